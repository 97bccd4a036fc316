#include "cli/output.h"

#include <fmt/format.h>

#include "cli/setup.h"
#include "report/csv.h"
#include "report/junit.h"
#include "report/markdown.h"
#include "report/table.h"

namespace vivace::cli {
namespace {

std::string rendered(const result::Document& document, const Arguments& arguments,
                     const Console& console) {
  const std::string format = arguments.value("format");
  if (format == "csv") return report::render_csv(document);
  if (format == "md") return report::render_markdown(document);
  if (format == "junit") return report::render_junit(document);
  report::TableStyle style;
  style.colour = console.colour();
  style.width = console.columns();
  return report::render_table(document, style);
}

}  // namespace

Result<void> check_outputs(const Arguments& arguments) {
  const auto json = arguments.text("json");
  if (json && *json != "-") return check_output("json", *json);
  return {};
}

Result<void> deliver(const result::Document& document, const Arguments& arguments,
                     Console& console) {
  const auto json = arguments.text("json");
  if (json && *json != "-") {
    VIVACE_CHECK_OK(result::write_result(*json, document));
    console.note(fmt::format("wrote {}", *json));
  }
  const bool as_json = (json && *json == "-") || arguments.value("format") == "json";
  if (!as_json) return console.print(rendered(document, arguments, console));
  // In pieces: the samples of a long run are no text to hold in memory.
  VIVACE_CHECK_OK(result::write_result(
      [&console](std::string_view piece) { return console.write(piece); }, document));
  return console.print("");
}

}  // namespace vivace::cli
