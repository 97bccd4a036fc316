// embed's files, init, info, completion and man.
#include <algorithm>

#include "cli/vivace_program.h"
#include "core/json.h"
#include "media/encode.h"

namespace vivace::test {
namespace {

constexpr int kUsage = 64;
constexpr int kCannotCreate = 73;

// embed -----------------------------------------------------------------------------------------

class Embed : public ProgramTest {
 protected:
  Words start() const {
    return {"embed", "--model", model(), "synthetic:40x40", "synthetic:50x40", "synthetic:60x40"};
  }
  void expect_done(const Words& words) {
    const ProgramResult result = vivace(words);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
  }
};

TEST_F(Embed, WritesEveryOutputWithItsShape) {
  expect_done(start() +
              Words{"--emit", "tokens,pooled,layers,pixels", "-o", path("a.safetensors")});
  const SafetensorsLite file(path("a.safetensors"));
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(file.shape("tokens"), (Shape{3, 16, 32}));
  EXPECT_EQ(file.shape("pooled"), (Shape{3, 32}));
  EXPECT_EQ(file.shape("pixels"), (Shape{3, 3, 32, 32}));
  for (const char* layer : {"layers.00", "layers.01", "layers.02"}) {
    EXPECT_EQ(file.shape(layer), (Shape{3, 16, 32})) << layer;
  }
  const std::vector<float> tokens = file.values<float>("tokens");
  const std::vector<float> pooled = file.values<float>("pooled");
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::size_t d = 0; d < 32; ++d) {
      double sum = 0;
      for (std::size_t n = 0; n < 16; ++n) sum += tokens[(b * 16 + n) * 32 + d];
      EXPECT_NEAR(pooled[b * 32 + d], sum / 16, 1e-5);
    }
  }
  EXPECT_NE(file.values<float>("layers.00"), file.values<float>("layers.02"));
}

TEST_F(Embed, BatchesChangeNothing) {
  const Words outputs = {"--emit", "tokens,layers,pixels"};
  expect_done(start() + outputs + Words{"-o", path("1.safetensors")});
  for (const char* batch : {"2", "3", "16"}) {
    expect_done(start() + outputs + Words{"--batch", batch, "-o", path("b.safetensors")});
    const SafetensorsLite one(path("1.safetensors"));
    const SafetensorsLite several(path("b.safetensors"));
    for (const char* name : {"tokens", "layers.00", "layers.01", "layers.02", "pixels"}) {
      const std::vector<float> want = one.values<float>(name);
      const std::vector<float> got = several.values<float>(name);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5) << name;
    }
  }
}

TEST_F(Embed, AnInputIsNeverReplaced) {
  const std::string file = path("in.npy");
  expect_done(Words{"embed", "--model", checkpoint().folder().string(), "synthetic:32x32", "--emit",
                    "pixels", "-o", file});
  expect_error(vivace({"embed", "--model", checkpoint().folder().string(), file, "--emit", "pixels",
                       "-o", file}),
               64, {"--out is one of the inputs"});
  EXPECT_GT(std::filesystem::file_size(file), 3U * 32 * 32 * 4);
}

TEST_F(Embed, WaitingForAPipeCanBeEnded) {
  const std::string pipe = path("pipe");
  const ProgramResult result = run_program(
      "/bin/sh",
      {"-c",
       "mkfifo \"$1\"; timeout -k 20 -s TERM --preserve-status 1 \"$0\" embed --model \"$2\" "
       "\"$1\" -o \"$1.npy\"",
       program(), pipe, checkpoint().folder().string()},
      {});
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("interrupted while waiting"));
}

TEST_F(Embed, AFileThatOutgrowsItsLimitIsAnErrorAndLeavesNothing) {
  const std::string out = path("large.npy");
  const ProgramResult result = run_program(
      "/bin/sh",
      {"-c", "ulimit -f 1; exec \"$0\" \"$@\"", program(), "embed", "--model",
       checkpoint().folder().string(), "synthetic:32x32", "--emit", "pixels", "-o", out},
      {});
  EXPECT_EQ(result.status, 74) << result.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(Embed, NpySafetensorsAndStandardOutputHoldTheSameNumbers) {
  const Words one = start() + Words{"--emit", "tokens"};
  expect_done(one + Words{"-o", path("a.npy")});
  expect_done(one + Words{"-o", path("a.safetensors")});
  const std::string npy = text_of(path("a.npy"));
  EXPECT_THAT(npy, testing::StartsWith("\x93NUMPY"));
  EXPECT_THAT(npy, testing::HasSubstr("(3, 16, 32)"));
  const std::vector<float> values = SafetensorsLite(path("a.safetensors")).values<float>("tokens");
  const std::size_t bytes = values.size() * sizeof(float);
  ASSERT_GT(npy.size(), bytes);
  EXPECT_EQ(std::memcmp(npy.data() + npy.size() - bytes, values.data(), bytes), 0);

  const ProgramResult piped = vivace(one + Words{"-o", "-"});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, npy);
  EXPECT_EQ(piped.err, "");
  EXPECT_THAT(vivace(one + Words{"-o", "-", "-v"}).err, testing::HasSubstr("tokens [3, 16, 32]"));
}

TEST_F(Embed, WhatItWroteIsAnInput) {
  const Words tokens = {"--emit", "tokens"};
  expect_done(start() + tokens + Words{"-o", path("direct.npy")});
  expect_done(start() + Words{"--emit", "pixels", "-o", path("p.npy")});
  expect_done(start() + Words{"--emit", "pixels,pooled", "-o", path("p.safetensors")});
  for (const std::string& input : {path("p.npy"), path("p.safetensors") + ":pixels"}) {
    expect_done(Words{"embed", "--model", model(), input, "-o", path("read.npy")} + tokens);
    EXPECT_EQ(text_of(path("read.npy")), text_of(path("direct.npy")));
  }
}

TEST_F(Embed, ReplacesAFileOnlyByAWholeOne) {
  write_bytes(folder() / "a.npy", "before");
  write_bytes(folder() / "bad.png", "no picture");
  expect_error(vivace(start() + Words{path("bad.png"), "-o", path("a.npy")}), 65, {"bad.png"});
  EXPECT_EQ(text_of(path("a.npy")), "before");
  expect_done(start() + Words{"-o", path("a.npy")});
  EXPECT_THAT(text_of(path("a.npy")), testing::StartsWith("\x93NUMPY"));
  EXPECT_EQ(names_in(folder()), (Words{"a.npy", "bad.png"}));
  // A failure before the first numbers leaves standard output empty.
  expect_error(vivace({"embed", "--model", model(), path("bad.png"), "-o", "-"}), 65, {"bad.png"});
}

TEST_F(Embed, OutputThatTheModelHasNotIsRefused) {
  expect_error(vivace(start() + Words{"--emit", "logits", "-o", path("a.npy")}), 69,
               {"no logits", "classifier.weight"});
  expect_error(vivace(start() + Words{"--emit", "cls", "-o", path("a.npy")}), 69, {"no cls"});
  EXPECT_TRUE(names_in(folder()).empty());
}

TEST_F(Embed, ClassifierNamesItsClasses) {
  checkpoint().add("classifier.weight", {3, 32});
  checkpoint().add("classifier.bias", {3});
  for (std::size_t i = 0; i < checkpoint().tensors().size(); ++i) {
    auto& name = checkpoint().tensors()[i].declaration.name;
    if (!name.starts_with("classifier")) name = "ijepa." + name;
  }
  checkpoint().config().set("id2label", JsonObject{{"0", "cat"}, {"1", "dog"}, {"2", "axolotl"}});
  checkpoint().write();
  const ProgramResult result = vivace(start() + Words{"--emit", "logits", "-o", path("a.npy")});
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* text : {"synthetic:40x40\n", "axolotl", "logits [3, 3]"}) {
    EXPECT_THAT(result.out, testing::HasSubstr(text));
  }
}

TEST_F(Embed, AnInterruptLeavesNothing) {
  ProgramOptions options;
  options.interrupt_after = "loaded ";
  options.interrupt_delay_ms = 50;
  // More work than fits into the delay.
  std::string list;
  media::test::Bytes picture = media::test::encode_jpeg(media::test::picture(600, 800));
  write_bytes(folder() / "a.jpg", picture);
  for (int i = 0; i < 20000; ++i) list += path("a.jpg") + "\n";
  write_bytes(folder() / "list.txt", list);
  const ProgramResult result = vivace(
      {"embed", "--model", model(), "@" + path("list.txt"), "-v", "-o", path("o.npy")}, options);
  EXPECT_EQ(result.status, 130);
  EXPECT_THAT(result.err, testing::HasSubstr("interrupted"));
  EXPECT_EQ(names_in(folder()), (Words{"a.jpg", "list.txt"}));
}

// init ------------------------------------------------------------------------------------------

TEST(Init, WritesTheSameBytesTwiceAndNeverOverRealWeights) {
  const TemporaryFolder folder;
  const std::string model = (folder.path() / "m").string();
  const Words start = {"init", "--preset", "ijepa-vits16", "--out", model};
  const ProgramResult first = vivace(start + Words{"--seed", "3", "-j1"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, testing::HasSubstr("stand-in"));
  std::vector<std::string> bytes;
  for (const std::string& name : names_in(model)) bytes.push_back(text_of(fs::path(model) / name));
  EXPECT_EQ(names_in(model),
            (Words{"config.json", "model.safetensors", "preprocessor_config.json"}));
  ASSERT_EQ(vivace(start + Words{"--seed=3", "-j2", "-q"}).out, "");
  std::size_t i = 0;
  for (const std::string& name : names_in(model)) {
    EXPECT_EQ(text_of(fs::path(model) / name), bytes[i++]) << name;
  }
  // Measured on, it is marked.
  const ProgramResult info = vivace({"info", "--model", model});
  EXPECT_THAT(info.out, testing::HasSubstr("stand-in"));
  const ProgramResult embed =
      vivace({"embed", "--model", model, "synthetic", "-o", (folder.path() / "a.npy").string()});
  EXPECT_THAT(embed.err, testing::HasSubstr("vivace: warning: the weights are a stand-in"));
}

using InitErrors = ProgramTest;

TEST_F(InitErrors, SayWhatToDo) {
  expect_error(vivace({"init", "--preset", "ijepa-vitsl6", "--out", path("m")}), kUsage,
               {"\"ijepa-vitsl6\"", "did you mean ijepa-vits16?"});
  expect_error(vivace({"init", "--preset", "ijepa-vits16"}), kUsage, {"--out is missing"});
  const std::string before = text_of(checkpoint().weights());
  expect_error(vivace({"init", "--preset", "ijepa-vits16", "--out", model()}), kCannotCreate,
               {"no stand-in", "choose another --out"});
  EXPECT_EQ(text_of(checkpoint().weights()), before);
  write_bytes(folder() / "file", "");
  for (const char* out : {"file", "file/below"}) {
    expect_error(vivace({"init", "--preset", "ijepa-vits16", "--out", path(out)}), kCannotCreate,
                 {"file"});
  }
  expect_error(vivace({"init", "--preset", "ijepa-vits16", "--out", "/proc/none"}), kCannotCreate,
               {"/proc/none"});
}

// info ------------------------------------------------------------------------------------------

using Info = ProgramTest;

TEST_F(Info, TellsMachineModelAndCost) {
  const ProgramResult machine = vivace({"info"});
  EXPECT_EQ(machine.status, 0);
  for (const char* text : {"machine\n", "  cpu ", "  isa ", "  fingerprint ", "  backends "}) {
    EXPECT_THAT(machine.out, testing::HasSubstr(text));
  }
  EXPECT_THAT(machine.out, testing::Not(testing::HasSubstr("\nmodel ")));
  const ProgramResult both = vivace({"info", "--model", model(), "--batch", "4"});
  for (const char* text :
       {"family          ijepa", "23.8 k (23840)", "2 layers, width 32, 2 heads of 16", "16 (4x4)",
        "cost of a request (batch 4)", "attention", "FLOP/B"}) {
    EXPECT_THAT(both.out, testing::HasSubstr(text));
  }
}

TEST_F(Info, WritesTheSameAsJson) {
  const Words start = {"info", "--model", model(), "--resolution", "64x32"};
  const ProgramResult printed = vivace(start + Words{"--format", "json"});
  ASSERT_EQ(printed.status, 0) << printed.err;
  const ProgramResult dashed = vivace(start + Words{"--json", "-"});
  ASSERT_EQ(vivace(start + Words{"--json", path("i.json")}).status, 0);
  EXPECT_EQ(dashed.out, printed.out);
  EXPECT_EQ(text_of(path("i.json")), printed.out);
  const Json json = parse_json(printed.out).value();
  EXPECT_EQ(json.find("schema")->as_string(), "vivace.info");
  const Json& facts = *json.find("model");
  EXPECT_EQ(facts.find("parameters")->as_integer(), kTinyParameters);
  EXPECT_EQ(facts.find("tokens")->as_integer(), 32);
  double flops = 0;
  for (const Json& one : facts.find("operators")->as_array()) {
    flops += one.find("flops")->as_number();
  }
  EXPECT_GT(flops, 2.0 * 32 * 2 * (4 * 32 * 32 + 2 * 32 * 64));
  EXPECT_FALSE(json.find("machine")->find("fingerprint")->as_string().empty());
}

TEST_F(Info, ListsTensors) {
  const Words start = {"info", "--tensors", checkpoint().weights().string()};
  const ProgramResult list = vivace(start);
  EXPECT_THAT(list.out, testing::HasSubstr("F32   [1, 16, 32]"));
  EXPECT_THAT(list.out, testing::HasSubstr("encoder.layer.1.output.dense.weight\n"));
  EXPECT_THAT(list.out, testing::HasSubstr("37 tensors"));
  const Json json = parse_json(vivace(start + Words{"--json", "-"}).out).value();
  ASSERT_EQ(json.find("tensors")->as_array().size(), checkpoint().tensors().size());
  const Json& first = json.find("tensors")->as_array()[0];
  EXPECT_EQ(first.find("dtype")->as_string(), "F32");
  EXPECT_EQ(first.find("shape")->as_array().size(), 4u);
}

// completion and man ------------------------------------------------------------------------------

class Completion : public ProgramTest {
 protected:
  /// What bash offers for these words, the last of which is being typed.
  Words offers(const Words& words) {
    const std::string script = R"(source <("$1" completion bash)
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_vivace
printf '%s\n' "${COMPREPLY[@]}")";
    ProgramOptions options;
    options.folder = folder();
    const ProgramResult result =
        run_program("/bin/bash", Words{"-c", script, "bash", program()} + words, options);
    EXPECT_EQ(result.err, "");
    Words lines;
    std::size_t begin = 0;
    for (std::size_t end = result.out.find('\n'); end != std::string::npos;
         end = result.out.find('\n', begin)) {
      if (end > begin) lines.push_back(result.out.substr(begin, end - begin));
      begin = end + 1;
    }
    return lines;
  }
};

TEST_F(Completion, OfBashKnowsVerbsFlagsAndValues) {
  write_bytes(folder() / "photo.jpg", "");
  EXPECT_EQ(offers({"vivace", "me"}), Words{"measure"});
  EXPECT_THAT(offers({"vivace", ""}), testing::IsSupersetOf({"info", "embed", "man", "help"}));
  EXPECT_EQ(offers({"vivace", "measure", "--perc"}), Words{"--percentiles"});
  EXPECT_THAT(offers({"vivace", "init", "--"}),
              testing::AllOf(testing::Contains("--preset"),
                             testing::Not(testing::Contains("--percentiles"))));
  EXPECT_EQ(offers({"vivace", "measure", "--format", ""}), (Words{"table", "json", "csv", "md"}));
  EXPECT_EQ(offers({"vivace", "info", "--format", ""}), (Words{"table", "json"}));
  EXPECT_EQ(offers({"vivace", "embed", "--emit", "=", "tok"}), Words{"tokens"});
  EXPECT_EQ(offers({"vivace", "embed", "--emit", "="}).size(), 6u);
  EXPECT_EQ(offers({"vivace", "embed", "-o", "ph"}), Words{"photo.jpg"});
  EXPECT_EQ(offers({"vivace", "embed", "ph"}), Words{"photo.jpg"});
  EXPECT_EQ(offers({"vivace", "measure", "--samples", ""}), Words{});
  EXPECT_EQ(offers({"vivace", "completion", ""}), (Words{"bash", "zsh", "fish"}));
  EXPECT_EQ(offers({"vivace", "help", "in"}), (Words{"info", "init"}));
}

TEST_F(Completion, OfTheOtherShellsNamesEveryFlag) {
  const std::string zsh = vivace({"completion", "zsh"}).out;
  const std::string fish = vivace({"completion", "fish"}).out;
  EXPECT_THAT(zsh, testing::StartsWith("#compdef vivace\n"));
  for (const char* flag : {"model", "percentiles", "emit", "preset", "tensors", "no-progress"}) {
    EXPECT_THAT(zsh, testing::HasSubstr(std::string("--") + flag));
    EXPECT_THAT(fish, testing::HasSubstr(std::string(" -l ") + flag + " "));
  }
  EXPECT_THAT(zsh, testing::HasSubstr("(table json csv md)"));
  EXPECT_THAT(fish, testing::HasSubstr("'table json csv md'"));
}

TEST(Man, IsValidRoffWithEveryVerbAndFlag) {
  const ProgramResult page = vivace({"man"});
  ASSERT_EQ(page.status, 0);
  EXPECT_THAT(page.out, testing::StartsWith(".TH VIVACE 1 "));
  for (const char* text :
       {".SS vivace measure", "\\-\\-percentiles", ".SH EXIT STATUS", "\n130\n"}) {
    EXPECT_THAT(page.out, testing::HasSubstr(text));
  }
  std::string groff;
  for (const char* place : {"/usr/bin/groff", "/usr/local/bin/groff"}) {
    if (fs::exists(place)) groff = place;
  }
  if (groff.empty()) GTEST_SKIP() << "groff is not installed: the page was not rendered";
  ProgramOptions options;
  options.input = page.out;
  const ProgramResult shown = run_program(groff, {"-Tutf8", "-man", "-ww", "-P-cbu"}, options);
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.err, "");
  EXPECT_THAT(shown.out, testing::HasSubstr("EXIT STATUS"));
  EXPECT_THAT(shown.out, testing::HasSubstr("--resolution HxW"));
}

}  // namespace
}  // namespace vivace::test
