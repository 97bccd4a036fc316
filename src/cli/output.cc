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
  return console.print(as_json ? write_json(result::to_json(document))
                               : rendered(document, arguments, console));
}

}  // namespace vivace::cli
