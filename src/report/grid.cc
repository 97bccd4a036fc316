#include "report/grid.h"

#include <algorithm>

#include "report/text_layout.h"

namespace vivace::report {
namespace {

constexpr int kIndent = 2;
constexpr int kGap = 2;
constexpr int kFirstMin = 12;

}  // namespace

void add_grid(Page& page, const Grid& grid) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < grid.heads.size(); ++c) {
    widths.push_back(display_width(grid.heads[c]));
    for (const auto& row : grid.rows) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  const auto total = [&] {
    int sum = kIndent;
    for (const int width : widths) sum += width + kGap;
    return sum - kGap;
  };
  if (total() > page.width()) {
    widths[0] = std::max(std::min(widths[0], kFirstMin), widths[0] - (total() - page.width()));
  }
  while (widths.size() > 2 && total() > page.width()) widths.pop_back();
  const auto line = [&](const std::vector<std::string>& texts) {
    std::string out(kIndent, ' ');
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (c > 0) out += std::string(kGap, ' ');
      const std::string text =
          c == 0 ? shorten_middle(texts[c], widths[c], page.unicode()) : texts[c];
      out += c == 0 ? pad_right(text, widths[c]) : pad_left(text, widths[c]);
    }
    return out;
  };
  page.raw(page.painted(Paint::kLabel, line(grid.heads)));
  for (const auto& row : grid.rows) page.raw(line(row));
}

std::string escaped_markdown(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>|#~&!").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string markdown_grid(const Grid& grid) {
  const auto line = [](const std::vector<std::string>& texts) {
    std::string out = "|";
    for (const std::string& text : texts) {
      out += ' ' + escaped_markdown(text) + " |";
    }
    return out + '\n';
  };
  std::string out = line(grid.heads) + "|";
  for (std::size_t c = 0; c < grid.heads.size(); ++c) out += c == 0 ? " --- |" : " ---: |";
  out += '\n';
  for (const auto& row : grid.rows) out += line(row);
  return out;
}

}  // namespace vivace::report
