// A measurement or a comparison as GitHub-flavoured Markdown: the facts and figures of the table,
// for issues and pages. A comparison opens with its verdict.
#pragma once

#include <string>

#include "result/document.h"

namespace vivace::report {

/// Ends with a newline. Names are escaped: none can break a table or add markup.
std::string render_markdown(const result::Document& document);

}  // namespace vivace::report
