// Text as a terminal shows it: how many columns it takes, made safe to print, cut and wrapped to a
// width. Names in a result come from files and users; none may move the cursor, colour the screen
// or turn the direction of writing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vivace::report {

/// Columns of well-formed UTF-8: 2 for East Asian wide characters and emoji, 0 for combining marks.
int display_width(std::string_view text);

/// The text on one line with control characters, direction marks and invalid bytes replaced, and,
/// unless `unicode`, everything beyond ASCII.
std::string printable(std::string_view text, bool unicode = true);

/// At most `width` columns: the middle gives way to an ellipsis, so that a path keeps its start and
/// its file name. `width` is at least 5.
std::string shorten_middle(std::string_view text, int width, bool unicode = true);

/// Lines of at most `width` columns, broken at spaces; a longer word is shortened in its middle.
/// At least one line.
std::vector<std::string> wrap(std::string_view text, int width, bool unicode = true);

std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);

}  // namespace vivace::report
