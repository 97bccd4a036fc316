// The grammar of the command line: what is refused and with which words, and what is taken.
#include <fmt/format.h>

#include "cli/vivace_program.h"

namespace vivace::test {
namespace {

constexpr int kUsage = 64;
constexpr int kUnavailable = 69;
constexpr int kCannotCreate = 73;
constexpr int kInputOutput = 74;

struct Wrong {
  const char* name;
  Words words;
  Words says;
  int status = kUsage;
};

class WrongUse : public testing::TestWithParam<Wrong> {};

TEST_P(WrongUse, IsRefusedWithTheRightWords) {
  const TemporaryFolder folder;
  ProgramOptions options;
  options.folder = folder.path();
  expect_error(vivace(GetParam().words, options), GetParam().status, GetParam().says);
  EXPECT_TRUE(names_in(folder.path()).empty());
}

const Words kMeasure = {"measure", "--model", "m", "synthetic"};
const Words kEmbed = {"embed", "--model", "m", "synthetic"};

INSTANTIATE_TEST_SUITE_P(
    Each, WrongUse,
    testing::Values(
        Wrong{"no_verb", {}, {"no verb", "vivace --help"}},
        Wrong{"unknown_verb", {"mesure"}, {"\"mesure\"", "did you mean `vivace measure`?"}},
        Wrong{"far_verb", {"xyzzy"}, {"\"xyzzy\"", "see `vivace --help`"}},
        Wrong{"help_of_unknown_verb", {"help", "embde"}, {"did you mean `vivace embed`?"}},
        Wrong{"flag_before_verb", {"--model", "m", "embed"}, {"no such verb"}},
        Wrong{"unknown_flag", kMeasure + Words{"--sample", "9"}, {"\"--sample\"", "--samples?"}},
        Wrong{"unknown_flag_with_value",
              kMeasure + Words{"--thread=9"},
              {"unknown flag \"--thread\"", "did you mean --threads?"}},
        Wrong{"unknown_far_flag", kMeasure + Words{"--zz"}, {"\"--zz\"", "vivace measure --help"}},
        Wrong{"unknown_short_flag", kMeasure + Words{"-z"}, {"\"-z\"", "vivace measure --help"}},
        Wrong{"flag_of_another_verb",
              kEmbed + Words{"--samples", "9"},
              {"`vivace embed` takes no flag --samples"}},
        Wrong{"repeated", kMeasure + Words{"--batch", "1", "--batch=1"}, {"--batch is given 2"}},
        Wrong{"repeated_by_its_short_name",
              kMeasure + Words{"-j2", "--threads", "2"},
              {"--threads is given 2 times", "once"}},
        Wrong{"repeated_switch", kMeasure + Words{"-q", "-q"}, {"--quiet is given 2 times"}},
        Wrong{"missing_value_at_the_end",
              kMeasure + Words{"--samples"},
              {"--samples needs a value (expected N, got the end of the line)"}},
        Wrong{"missing_value_of_a_short_flag", kMeasure + Words{"-j"}, {"--threads needs a value"}},
        Wrong{"missing_value_before_a_flag",
              kMeasure + Words{"--samples", "--batch", "2"},
              {"--samples needs a value", "\"--batch\""}},
        Wrong{"missing_value_before_a_short_flag",
              kMeasure + Words{"--samples", "-q"},
              {"--samples needs a value", "\"-q\""}},
        Wrong{"empty_value", kMeasure + Words{"--samples="}, {"--samples needs a value"}},
        Wrong{"empty_word", kMeasure + Words{"--samples", ""}, {"--samples needs a value"}},
        Wrong{"switch_with_a_value",
              kMeasure + Words{"--quiet=false"},
              {"--quiet takes no value", "\"--quiet=false\""}},
        Wrong{"count_of_letters", kMeasure + Words{"--samples", "many"}, {"--samples", "\"many\""}},
        Wrong{"count_with_a_fraction", kMeasure + Words{"--samples", "1.5"}, {"\"1.5\""}},
        Wrong{"count_of_zero", kMeasure + Words{"--samples", "0"}, {"from 1 to 10000000"}},
        Wrong{"negative_count", kMeasure + Words{"--seed", "-1"}, {"--seed", "\"-1\""}},
        Wrong{"count_too_large", kMeasure + Words{"-j", "2000"}, {"from 1 to 1024", "\"2000\""}},
        Wrong{"count_nan", kMeasure + Words{"--batch", "nan"}, {"--batch", "\"nan\""}},
        Wrong{
            "count_beyond_64_bits", kMeasure + Words{"--seed", "99999999999999999999"}, {"--seed"}},
        Wrong{"few_warm_up_runs", kMeasure + Words{"--warmup", "9"}, {"--warmup", "from 10"}},
        Wrong{
            "duration_without_unit", kMeasure + Words{"--duration", "30"}, {"--duration", "30ms"}},
        Wrong{"duration_with_a_wrong_unit", kMeasure + Words{"--duration", "3 days"}, {"3 days"}},
        Wrong{"negative_duration", kMeasure + Words{"--duration=-1s"}, {"--duration", "-1s"}},
        Wrong{"no_time", kMeasure + Words{"--duration", "0s"}, {"--duration", "above 0"}},
        Wrong{"version_with_more", {"--version", "x"}, {"--version stands alone"}},
        Wrong{"no_size", kMeasure + Words{"--resolution", "big"}, {"--resolution", "224x320"}},
        Wrong{"size_of_zero", kMeasure + Words{"--resolution", "0x8"}, {"--resolution", "0x8"}},
        Wrong{"size_of_three", kMeasure + Words{"--resolution", "8x8x8"}, {"--resolution"}},
        Wrong{"no_percentile", kMeasure + Words{"--percentiles", "p50,p101"}, {"--percentiles"}},
        Wrong{"percentile_twice", kMeasure + Words{"--percentiles", "p50,p50"}, {"twice"}},
        Wrong{"empty_percentile", kMeasure + Words{"--percentiles", "p50,"}, {"--percentiles"}},
        Wrong{"no_choice", kMeasure + Words{"--format", "cvs"}, {"\"cvs\"", "did you mean csv?"}},
        Wrong{"choice_of_another_verb", {"info", "--format", "csv"}, {"table, json", "\"csv\""}},
        Wrong{"no_stage", kMeasure + Words{"--include", "decoed"}, {"did you mean decode?"}},
        Wrong{"stage_twice", kMeasure + Words{"--include", "read,read"}, {"twice"}},
        Wrong{"stages_apart", kMeasure + Words{"--include", "read,preprocess"}, {"read"}},
        Wrong{"include_and_exclude",
              kMeasure + Words{"--include", "decode", "--exclude", "read"},
              {"--include and --exclude"}},
        Wrong{"exclude_all",
              kMeasure + Words{"--exclude", "read,decode,preprocess,context_encode,postprocess"},
              {}},
        Wrong{"quiet_and_verbose", kMeasure + Words{"-qv"}, {"--quiet and --verbose"}},
        Wrong{"json_and_format_on_one_stream",
              kMeasure + Words{"--json", "-", "--format", "csv"},
              {"--json -", "--format csv"}},
        Wrong{"tensors_and_model", {"info", "--tensors", "f", "--model", "m"}, {"--tensors"}},
        Wrong{"input_for_info", {"info", "photo.jpg"}, {"takes no input", "\"photo.jpg\""}},
        Wrong{"no_model", {"measure", "synthetic"}, {"--model is missing", "vivace init"}},
        Wrong{"no_input", {"measure", "--model", "m"}, {"there is no input", "example"}},
        Wrong{"empty_input", {"measure", "--model", "m", ""}, {"an input is empty"}},
        Wrong{"no_out", kEmbed, {"--out is missing", ".npy"}},
        Wrong{"wrong_out", kEmbed + Words{"-o", "x.csv"}, {"\"x.csv\"", ".safetensors"}},
        Wrong{"two_outputs_in_npy",
              kEmbed + Words{"-o", "x.npy", "--emit", "tokens,pooled"},
              {"one tensor", "tokens,pooled"}},
        Wrong{"layers_in_npy", kEmbed + Words{"-o", "x.npy", "--emit=layers"}, {"one tensor"}},
        Wrong{"unknown_emit", kEmbed + Words{"--emit", "token"}, {"did you mean tokens?"}},
        Wrong{"standard_input_twice", {"embed", "--model", "m", "-", "-", "-ox.npy"}, {"twice"}},
        Wrong{"no_preset", {"init", "--out", "x"}, {"--preset is missing", "ijepa-vits16"}},
        Wrong{"no_shell", {"completion"}, {"bash, zsh, fish"}},
        Wrong{"unknown_shell", {"completion", "bsh"}, {"\"bsh\"", "did you mean bash?"}},
        Wrong{"backend", kMeasure + Words{"--backend", "torch"}, {"torch"}, kUnavailable},
        Wrong{"device", kMeasure + Words{"--device", "cuda:0"}, {"cuda:0"}, kUnavailable},
        Wrong{"precision", kMeasure + Words{"--precision", "bf16"}, {"bf16"}, kUnavailable},
        Wrong{"url", {"measure", "--model", "m", "http://h/a.jpg"}, {"network"}, kUnavailable},
        Wrong{"folder_of_out_missing",
              kEmbed + Words{"-o", "none/x.npy"},
              {"--out", "the folder \"none\" does not exist", "create it first"},
              kCannotCreate},
        Wrong{"folder_of_json_missing",
              kMeasure + Words{"--json", "none/x.json"},
              {"--json", "the folder \"none\" does not exist"},
              kCannotCreate},
        Wrong{"out_below_a_file",
              kEmbed + Words{"-o", "/dev/null/x.npy"},
              {"is a file"},
              kCannotCreate}),
    [](const auto& chosen) { return chosen.param.name; });

TEST(Help, FitsEightyColumnsAndNamesExitCodesAndAnExample) {
  const ProgramResult all = vivace({"--help"});
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(vivace({"help"}).out, all.out);
  EXPECT_EQ(vivace({"-h"}).out, all.out);
  std::string pages = all.out;
  for (const char* verb : {"info", "init", "measure", "import", "explain", "compare", "embed",
                           "selftest", "completion", "man"}) {
    EXPECT_THAT(all.out, testing::HasSubstr(std::string("  ") + verb + " "));
    const ProgramResult page = vivace({verb, "--help"});
    EXPECT_EQ(page.status, 0);
    EXPECT_EQ(page.err, "");
    EXPECT_EQ(vivace({"help", verb}).out, page.out);
    EXPECT_THAT(page.out, testing::HasSubstr("\nExample:\n  "));
    EXPECT_THAT(page.out, testing::HasSubstr("\nExit codes:\n"));
    EXPECT_THAT(page.out, testing::HasSubstr("130 interrupted"));
    pages += page.out;
  }
  std::size_t begin = 0;
  for (std::size_t end = pages.find('\n'); end != std::string::npos;
       end = pages.find('\n', begin)) {
    EXPECT_LE(end - begin, 80u) << pages.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Version, NamesCompilerBackendAndInstructionSet) {
  const ProgramResult result = vivace({"--version"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, testing::StartsWith("vivace " VIVACE_PROJECT_VERSION "\n"));
  EXPECT_THAT(result.out, testing::HasSubstr("build: "));
  EXPECT_THAT(result.out, testing::HasSubstr("backends: cpu ("));
}

TEST(Output, ThatCannotBeWrittenIsAnError) {
  using Output = ProgramOptions::Output;
  for (const Output output : {Output::kBrokenPipe, Output::kClosed, Output::kFull}) {
    ProgramOptions options;
    options.output = output;
    for (const Words& words : {Words{"--help"}, Words{"info"}, Words{"man"}}) {
      expect_error(vivace(words, options), kInputOutput, {"cannot write to standard output"});
    }
  }
}

using Grammar = ProgramTest;

TEST_F(Grammar, EveryFormOfAFlagMeansTheSame) {
  const std::string out = path("a.npy");
  const Words start = {"embed", "--model", model(), "synthetic:40x40"};
  ASSERT_EQ(vivace(start + Words{"-o", out, "-j", "1"}).status, 0);
  const std::string want = text_of(out);
  for (const Words& words :
       {Words{"--out=" + out, "-j1"}, Words{"-o" + out, "--threads", "1"}, Words{"-qj1", "-o", out},
        Words{"--out", out, "--threads=1", "--emit=pooled"}}) {
    fs::remove(out);
    const ProgramResult result = vivace(start + words);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(text_of(out), want);
  }
}

TEST_F(Grammar, NamesOfFilesMayHoldAnything) {
  const std::string out = path("a.npy");
  // A picture of a case would need the cases: a tensor of pixels is a file as well.
  ASSERT_EQ(vivace({"embed", "--model", model(), "synthetic:40x40", "--emit", "pixels", "-o",
                    path("pixels.npy")})
                .status,
            0);
  for (const char* name :
       {"two words.npy", "[a].npy", "@at.npy", "-dash.npy", "--long.npy", "grüße 漢字.npy",
        "a'b\"c.npy", "{x},y.npy", "a=b.npy", "new\nline.npy"}) {
    fs::copy_file(path("pixels.npy"), folder() / name);
    ProgramOptions options;
    options.folder = folder();
    fs::remove(out);
    const bool odd = *name == '-' || *name == '@';
    const std::string input = odd ? std::string("./") + name : std::string(name);
    const Words start = {"embed", "--model", model(), "-o", out};
    EXPECT_EQ(vivace(start + Words{input}, options).err, "") << name;
    EXPECT_TRUE(fs::exists(out)) << name;
    EXPECT_EQ(vivace(start + Words{"--input", input}, options).status, 0) << name;
    if (*name == '-') {
      EXPECT_EQ(vivace(start + Words{"--", name}, options).err, "") << name;
    }
  }
}

TEST_F(Grammar, InputsOfBothFormsAreTakenInOrder) {
  const std::string out = path("a.npy");
  const ProgramResult result =
      vivace({"embed", "--model", model(), "synthetic:40x40", "--input", "synthetic:41x41",
              "synthetic:42x42", "--input=synthetic:43x43", "-o", out});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("pooled [4, 32]"));
}

TEST_F(Grammar, ResultsCannotBePutWhereAFolderIs) {
  fs::create_directory(folder() / "x.npy");
  expect_error(vivace({"embed", "--model", model(), "synthetic", "-o", path("x.npy")}),
               kCannotCreate, {"x.npy", "a folder"});
}

}  // namespace
}  // namespace vivace::test
