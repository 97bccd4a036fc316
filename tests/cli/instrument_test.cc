// The instrument as users run it, on systems whose latency is known: simulated clocks, so that
// nothing of the machine bears on what is expected.
#include "cli/vivace_program.h"

#include "core/json.h"

namespace vivace::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kSteady = "synthetic:mean=2ms,noise=3%,clock=virtual";

class Instrument : public ProgramTest {
 protected:
  Json json(const std::string& name) const {
    auto parsed = parse_json(text_of(path(name)));
    EXPECT_TRUE(parsed) << name;
    return parsed ? std::move(*parsed) : Json();
  }
  /// The ids of an array of findings or caveats.
  static Words ids(const Json& document, std::string_view key) {
    Words found;
    for (const Json& one : document.find(key)->as_array()) {
      found.push_back(one.find("id")->as_string());
    }
    return found;
  }
};

TEST_F(Instrument, TheVerdictOnALevelIsTheExitCode) {
  const Words measure = {"measure", "--quiet", "--system", kSteady, "--samples", "300"};
  const ProgramResult pass = vivace(measure + Words{"--slo", "p95<3ms", "--json", path("a.json")});
  EXPECT_EQ(pass.status, 0) << pass.err;
  EXPECT_THAT(pass.out, HasSubstr("slo p95<3ms: pass"));
  const Json document = json("a.json");
  EXPECT_EQ(document.find("verdicts")->as_array().at(0).find("verdict")->as_string(), "pass");
  EXPECT_EQ(vivace(measure + Words{"--slo", "p95<2ms"}).status, 1);
  const ProgramResult open =
      vivace({"measure", "--quiet", "--system", kSteady, "--samples", "40", "--slo", "p95<3ms"});
  EXPECT_EQ(open.status, 2);
  EXPECT_THAT(open.out, HasSubstr("more samples"));
}

TEST_F(Instrument, SamplingEndsAtItsGoal) {
  const ProgramResult width =
      vivace({"measure", "--quiet", "--system", kSteady, "--until", "ci=1%@p50", "--json", "-"});
  EXPECT_EQ(width.status, 0) << width.err;
  EXPECT_THAT(width.out, HasSubstr("\"stop_reason\": \"width\""));
  const ProgramResult verdict = vivace({"measure", "--quiet", "--system", kSteady, "--until",
                                        "verdict", "--slo", "p95<3ms", "--json", "-"});
  EXPECT_EQ(verdict.status, 0) << verdict.err;
  EXPECT_THAT(verdict.out, HasSubstr("\"stop_reason\": \"verdict\""));
  EXPECT_THAT(verdict.out, HasSubstr("at any time"));
}

TEST_F(Instrument, ASweepHasARowForEachSetting) {
  const ProgramResult table = vivace({"measure", "--quiet", "--system", kSteady, "--samples", "100",
                                      "--sweep", "batch=1,2,4", "--json", path("s.json")});
  EXPECT_EQ(table.status, 0) << table.err;
  for (const char* text : {"batch=1 ", "batch=2 ", "batch=4 ", "items/s", "per item"}) {
    EXPECT_THAT(table.out, HasSubstr(text));
  }
  const Json document = json("s.json");
  EXPECT_EQ(document.find("kind")->as_string(), "sweep");
  const JsonArray& points = document.find("points")->as_array();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[2].find("setting")->find("batch")->as_string(), "4");
  const auto per_s = [&](std::size_t i) {
    return points[i].find("result")->find("summary")->find("throughput_per_s")->as_number();
  };
  EXPECT_NEAR(per_s(2) / per_s(0), 4, 0.1) << "four items in the time of one";
  const ProgramResult csv =
      vivace({"measure", "--quiet", "--system", kSteady, "--samples", "50", "--sweep", "seed=1:2:1",
              "--sweep", "batch=1,2", "--format", "csv"});
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 5) << csv.out;
  // A sweep is no single measurement.
  expect_error(vivace({"explain", path("s.json")}), 65, {"no single measurement", "\"sweep\""});
}

TEST_F(Instrument, ProcessesAreStartedAfresh) {
  const ProgramResult result = vivace({"measure", "--quiet", "--system", kSteady, "--samples",
                                       "100", "--processes", "3", "--json", path("p.json")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("processes"));
  const Json document = json("p.json");
  EXPECT_EQ(document.find("processes")->find("count")->as_integer(), 3);
  EXPECT_EQ(document.find("samples")->find("latency_ns")->as_array().size(), 300U);
  expect_error(vivace({"measure", "--system", "exec:exit 3", "--processes", "2", "--quiet"}), 69,
               {"process 1 of 2 failed"});
}

TEST_F(Instrument, ACallThatReturnsEarlyIsNoLatency) {
  const ProgramResult result =
      vivace({"measure", "--quiet", "--system", "synthetic:async=60%,clock=virtual", "--samples",
              "100", "--json", path("a.json")});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.out, HasSubstr("no latency is given"));
  const Json document = json("a.json");
  EXPECT_TRUE(document.find("summary")->is_null());
  EXPECT_EQ(ids(document, "findings").at(0), "async_system");
  expect_error(vivace({"compare", path("a.json"), path("a.json")}), 3, {"has no latency"});
  const ProgramResult explained = vivace({"explain", path("a.json")});
  EXPECT_EQ(explained.status, 0);
  EXPECT_THAT(explained.out, HasSubstr("async_system"));
}

TEST_F(Instrument, StrictRefusesARunThatNeverSettles) {
  const Words drifting = {"measure",   "--quiet", "--system", "synthetic:drift=100%,clock=virtual",
                          "--samples", "500"};
  EXPECT_EQ(vivace(drifting).status, 0);
  const ProgramResult strict = vivace(drifting + Words{"--strict"});
  EXPECT_EQ(strict.status, strict.out.find("no_steady_state") == std::string::npos ? 0 : 3);
  EXPECT_THAT(strict.out, HasSubstr("steadiness."));
}

TEST_F(Instrument, ExplainNamesAPeriodAndNothingOnAQuietSeries) {
  ASSERT_EQ(
      vivace({"measure", "--quiet", "--system", "synthetic:noise=2%,period=50x6,clock=virtual",
              "--samples", "1000", "--json", path("period.json")})
          .status,
      0);
  const ProgramResult period = vivace({"explain", path("period.json")});
  EXPECT_EQ(period.status, 0) << period.err;
  EXPECT_THAT(period.out, HasSubstr("1  tail.periodic"));
  const ProgramResult as_json = vivace({"explain", path("period.json"), "--format", "json"});
  EXPECT_THAT(as_json.out, HasSubstr("\"id\": \"tail.periodic\""));
  EXPECT_THAT(vivace({"explain", path("period.json"), "--format", "md"}).out,
              HasSubstr("**tail.periodic**"));
  ASSERT_EQ(
      vivace({"measure", "--quiet", "--system", kSteady, "--json", path("quiet.json")}).status, 0);
  const ProgramResult quiet = vivace({"explain", path("quiet.json")});
  EXPECT_THAT(quiet.out, HasSubstr("nothing to explain"));
  EXPECT_THAT(quiet.out, Not(HasSubstr("tail.")));
}

TEST_F(Instrument, CompareGivesTheVerdictsItsExitCodes) {
  const Words compare = {"compare", "--quiet", "--samples", "100"};
  const auto sides = [&](const std::string& a, const std::string& b) {
    return vivace(compare + Words{"--a", a, "--b", b});
  };
  EXPECT_EQ(sides(kSteady, "synthetic:mean=2.2ms,noise=3%,clock=virtual").status, 1);
  EXPECT_EQ(sides(kSteady, "synthetic:mean=1.8ms,noise=3%,clock=virtual").status, 0);
  const ProgramResult same =
      vivace(compare + Words{"--system", kSteady, "--a", "--seed 1", "--b", "--seed 2", "--margin",
                             "5%", "--json", path("c.json")});
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("equivalent"));
  EXPECT_EQ(json("c.json").find("comparison")->find("verdict")->as_string(), "equivalent");
  const ProgramResult few =
      vivace({"compare", "--quiet", "--samples", "3", "--a", kSteady, "--b", kSteady});
  EXPECT_EQ(few.status, 2);
  const ProgramResult junit =
      vivace(compare + Words{"--a", kSteady, "--b", "synthetic:mean=3ms,noise=3%,clock=virtual",
                             "--format", "junit"});
  EXPECT_EQ(junit.status, 1);
  EXPECT_THAT(junit.out, HasSubstr("<testsuite"));
  EXPECT_THAT(junit.out, HasSubstr("<failure"));
  EXPECT_THAT(
      vivace(compare + Words{"--a", "true", "--b", "true", "--samples", "20", "--format", "md"})
          .err,
      HasSubstr("--samples is given 2 times"));
}

TEST_F(Instrument, FilesAreComparedUnpairedAndUnlikeOnesRefused) {
  for (const char* name : {"a.json", "b.json"}) {
    ASSERT_EQ(vivace({"measure", "--quiet", "--system", kSteady, "--seed",
                      name[0] == 'a' ? "1" : "2", "--json", path(name)})
                  .status,
              0);
  }
  const ProgramResult same = vivace({"compare", path("a.json"), path("b.json")});
  EXPECT_EQ(same.status, 0) << same.err << same.out;
  EXPECT_THAT(same.out, HasSubstr("compare.unpaired"));

  std::string other = text_of(path("b.json"));
  const std::string key = "\"fingerprint\": \"";
  other.replace(other.find(key) + key.size(), 4, "0000");
  write_bytes(path("other.json"), other);
  expect_error(vivace({"compare", path("a.json"), path("other.json")}), 3,
               {"unlike machines", "--allow-unlike"});
  const ProgramResult allowed =
      vivace({"compare", path("a.json"), path("other.json"), "--allow-unlike"});
  EXPECT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("compare.unlike"));
}

TEST_F(Instrument, ImportedFiguresAreExplainedAndCompared) {
  std::string column = "latency_ms\n";
  for (int i = 0; i < 200; ++i) column += std::to_string(10 + i % 7 * 0.1) + "\n";
  write_bytes(path("x.csv"), column);
  const ProgramResult imported = vivace({"import", path("x.csv"), "--json", path("x.json")});
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("import.unknown_environment"));
  EXPECT_EQ(vivace({"explain", path("x.json")}).status, 0);
  EXPECT_EQ(vivace({"compare", path("x.json"), path("x.json")}).status, 0);
  write_bytes(path("bare.csv"), "1\n2\n3\n");
  expect_error(vivace({"import", path("bare.csv")}), 64, {"bare.csv", "--unit"});
  EXPECT_EQ(vivace({"import", path("bare.csv"), "--unit", "ms"}).status, 0);
  expect_error(vivace({"import", path("absent.csv")}), 66, {"absent.csv"});
}

TEST_F(Instrument, SelftestTellsWhatTheMachineResolves) {
  const ProgramResult result = vivace({"selftest", "--quiet", "--json", path("t.json")});
  // A busy machine may fail its own checks; the instrument's must hold anywhere.
  EXPECT_TRUE(result.status == 0 || result.status == 3) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("smallest change seen"));
  EXPECT_THAT(result.out, HasSubstr("The instrument works here"));
  EXPECT_EQ(json("t.json").find("kind")->as_string(), "selftest");
}

TEST_F(Instrument, WrongUseIsSaid) {
  struct Wrong {
    Words words;
    int status;
    Words says;
  };
  const Words measure = {"measure", "--system", kSteady};
  const Wrong rows[] = {
      {measure + Words{"--slo", "95<30"}, 64, {"--slo", "p95<30ms"}},
      {measure + Words{"--until", "forever"}, 64, {"--until", "ci=2%@p99"}},
      {measure + Words{"--until", "verdict"}, 64, {"needs --slo"}},
      {measure + Words{"--until", "ci=0%@p99"}, 64, {"--until"}},
      {measure + Words{"--confidence", "5"}, 64, {"--confidence"}},
      {measure + Words{"--confidence", "20%"}, 64, {"--confidence", "from 50%"}},
      {measure + Words{"--sweep", "batch"}, 64, {"--sweep", "FLAG=VALUE"}},
      {measure + Words{"--sweep", "samples=1,2"}, 64, {"--sweep", "batch"}},
      {measure + Words{"--sweep", "batch=1,1"}, 64, {"twice"}},
      {measure + Words{"--sweep", "batch=0,1"}, 64, {"batch"}},
      {measure + Words{"--sweep", "batch=9:1:1"}, 64, {"FIRST:LAST:STEP"}},
      {measure + Words{"--sweep", "seed=1:100:1"}, 64, {"at most 64"}},
      {measure + Words{"--sweep", "batch=1,2", "--batch", "1"}, 64, {"both given"}},
      {measure + Words{"--sweep", "batch=1,2", "--processes", "2"}, 64, {"both given"}},
      {measure + Words{"--model", "m"}, 64, {"--system and --model"}},
      {measure + Words{"--threads", "2"}, 64, {"--threads"}},
      {measure + Words{"photo.jpg"}, 64, {"takes no input"}},
      {{"measure", "--system", "sythetic:mean=1ms"}, 64, {"did you mean synthetic"}},
      {{"measure", "--system", "synthetic:maen=1ms"}, 64, {"did you mean mean"}},
      {{"measure", "--system", "http://x"}, 69, {"endpoints"}},
      {{"measure", "--system", "exec:exit 3"}, 69, {"exit status 3"}},
      {{"measure", "--system", "worker:true"}, 69, {"worker \"true\""}},
      {{"measure", "--system", "worker:echo hello"}, 65, {"vivace-worker 1"}},
      {{"compare", "--a", "true"}, 64, {"--a is given without --b"}},
      {{"compare", "a.json"}, 64, {"two result files"}},
      {{"compare", "a.json", "b.json"}, 66, {"a.json"}},
      {{"explain"}, 64, {"one result file"}},
      {{"explain", "absent.json"}, 66, {"absent.json"}},
      {{"import"}, 64, {"one file"}},
      {{"selftest", "x"}, 64, {"takes no input"}}};
  for (const Wrong& row : rows) {
    SCOPED_TRACE(row.words.back());
    expect_error(vivace(row.words + Words{"--quiet"}), row.status, row.says);
  }
}

}  // namespace
}  // namespace vivace::test
