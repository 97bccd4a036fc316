#include "report/page.h"

#include <algorithm>

#include "report/text_layout.h"

namespace vivace::report {
namespace {

constexpr int kWidthMin = 60;
constexpr int kWidthMax = 100;  // longer lines are harder to read, whatever the terminal

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

std::string_view code_of(Paint paint) {
  switch (paint) {
    case Paint::kTitle:
    case Paint::kStrong:
      return "\x1b[1m";
    case Paint::kLabel:
      return "\x1b[2m";
    case Paint::kBar:
      return "\x1b[36m";
    case Paint::kWarning:
      return "\x1b[33m";
    case Paint::kPlain:
      break;
  }
  return "";
}

}  // namespace

Page::Page(const TableStyle& style)
    : style_(style), width_(std::clamp(style.width, kWidthMin, kWidthMax)) {}

std::string Page::painted(Paint paint, std::string_view text) const {
  const std::string_view code = code_of(paint);
  if (!style_.colour || code.empty() || text.empty()) return std::string(text);
  return std::string(code) + std::string(text) + "\x1b[0m";
}

void Page::section(std::string_view title, std::string_view note) {
  blank();
  const int gap = width_ - display_width(title) - display_width(note);
  if (note.empty() || gap < 2) {
    raw(painted(Paint::kTitle, title));
    if (!note.empty()) paragraph(note, 2, Paint::kLabel);
    return;
  }
  raw(painted(Paint::kTitle, title) + spaces(gap) + painted(Paint::kLabel, note));
}

void Page::raw(std::string_view line) {
  text_ += line;
  text_ += '\n';
}

void Page::paragraph(std::string_view text, int indent, Paint paint) {
  for (const std::string& line : wrap(text, width_ - indent, style_.unicode)) {
    raw(spaces(indent) + painted(paint, line));
  }
}

void Page::fact(std::string_view label, std::string_view text, int indent, int label_width,
                Paint label_paint) {
  bool first = true;
  for (const std::string& line : wrap(text, width_ - indent - label_width, style_.unicode)) {
    const std::string padded = pad_right(first ? label : "", label_width);
    raw(spaces(indent) + painted(first ? label_paint : Paint::kPlain, padded) + line);
    first = false;
  }
}

void Page::rule() {
  std::string line;
  for (int i = 0; i < width_; ++i) line += style_.unicode ? "\u2500" : "-";
  raw(painted(Paint::kLabel, line));
}

}  // namespace vivace::report
