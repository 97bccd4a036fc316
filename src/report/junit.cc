#include "report/junit.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/comparison_wording.h"
#include "report/text_layout.h"

namespace vivace::report {
namespace {

/// For an attribute or a text. What XML 1.0 has no way to write is no part of printable text, but
/// for the noncharacters U+FFFE and U+FFFF.
std::string escaped(std::string_view text) {
  std::string safe;
  std::string clean = printable(text);
  for (const std::string_view forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (auto at = clean.find(forbidden); at != std::string::npos; at = clean.find(forbidden, at)) {
      clean.replace(at, forbidden.size(), "\ufffd");
    }
  }
  for (const char c : clean) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&apos;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

struct TestCase {
  enum class Outcome { kPassed, kFailed, kSkipped };
  std::string name;
  Outcome outcome = Outcome::kPassed;
  std::string type;     ///< "regressed"
  std::string message;  ///< one sentence with the figures
  std::string advice;
};

std::vector<TestCase> cases_of(const result::Comparison& comparison) {
  std::vector<TestCase> cases;
  for (const result::ComparedQuantity& one : comparison.quantities) {
    if (is_stage(one)) continue;
    TestCase test{.name = one.name,
                  .type = one.verdict,
                  .message = sentence_of(comparison, one, true),
                  .advice = one.note};
    if (one.verdict == "regressed") test.outcome = TestCase::Outcome::kFailed;
    if (one.verdict == "inconclusive") test.outcome = TestCase::Outcome::kSkipped;
    cases.push_back(std::move(test));
  }
  return cases;
}

std::vector<TestCase> cases_of(const std::vector<result::Verdict>& verdicts) {
  std::vector<TestCase> cases;
  for (const result::Verdict& one : verdicts) {
    TestCase test{.name = one.target.empty() ? one.id : one.id + " " + one.target,
                  .type = one.verdict,
                  .message = one.message,
                  .advice = one.advice};
    if (one.verdict == "fail") test.outcome = TestCase::Outcome::kFailed;
    if (one.verdict == "inconclusive") test.outcome = TestCase::Outcome::kSkipped;
    cases.push_back(std::move(test));
  }
  return cases;
}

std::string property(std::string_view name, std::string_view value) {
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, escaped(value));
}

std::string element(const TestCase& test, std::string_view class_name) {
  const std::string start =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", class_name, escaped(test.name));
  const std::string message =
      escaped(test.advice.empty() ? test.message : test.message + "; " + test.advice);
  switch (test.outcome) {
    case TestCase::Outcome::kFailed:
      return fmt::format("{}>\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
                         start, escaped(test.type), message);
    case TestCase::Outcome::kSkipped:
      return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", start, message);
    case TestCase::Outcome::kPassed:
      break;
  }
  return fmt::format("{}>\n      <system-out>{}</system-out>\n    </testcase>\n", start, message);
}

std::string properties_of(const result::Document& document) {
  std::string out = "    <properties>\n" + property("vivace", document.tool.version) +
                    property("machine", document.environment.cpu);
  if (document.comparison) {
    out += property("A", document.comparison->a.label) +
           property("B", document.comparison->b.label) +
           property("verdict", document.comparison->verdict);
  }
  return out + "    </properties>\n";
}

}  // namespace

std::string render_junit(const result::Document& document) {
  const std::vector<TestCase> cases =
      document.comparison ? cases_of(*document.comparison) : cases_of(document.verdicts);
  std::size_t failed = 0;
  std::size_t skipped = 0;
  const std::string class_name = escaped("vivace." + document.kind);
  std::string tests;
  for (const TestCase& test : cases) {
    failed += test.outcome == TestCase::Outcome::kFailed ? 1 : 0;
    skipped += test.outcome == TestCase::Outcome::kSkipped ? 1 : 0;
    tests += element(test, class_name);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n"
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
      "timestamp=\"{}\">\n{}{}  </testsuite>\n"
      "</testsuites>\n",
      class_name, cases.size(), failed, skipped, escaped(document.created), properties_of(document),
      tests);
}

}  // namespace vivace::report
