// What `vivace explain` prints of a result: its findings with evidence, and everything that was
// tried as a cause of the tail, claimed or not.
#pragma once

#include <string>

#include "report/page.h"
#include "result/document.h"

namespace vivace::report {

/// `document.findings` are those to be printed. Both end with a newline.
std::string render_explanation_table(const result::Document& document, const TableStyle& style);
std::string render_explanation_markdown(const result::Document& document);

}  // namespace vivace::report
