// A small table of texts, drawn in aligned columns for a terminal or as Markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/page.h"

namespace vivace::report {

struct Grid {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;  ///< as many texts as heads; printable
};

/// The first column to the left, the others to the right; the first gives way where the width of
/// the page is not enough, and then the last ones are left out.
void add_grid(Page& page, const Grid& grid);

/// Safe inside a cell and a paragraph: nothing is read as markup. The text is on one line already.
std::string escaped_markdown(std::string_view text);

/// Texts are escaped. With a line's end after the last row.
std::string markdown_grid(const Grid& grid);

}  // namespace vivace::report
