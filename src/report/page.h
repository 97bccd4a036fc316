// Lines for a terminal of known width: nothing that is added comes out wider.
#pragma once

#include <string>
#include <string_view>

namespace vivace::report {

struct TableStyle {
  int width = 80;       ///< columns; held within 60 and 100
  bool colour = false;  ///< escape sequences; the caller knows whether a terminal reads along
  bool unicode = true;  ///< bars, dashes and micro signs beyond ASCII
};

enum class Paint { kPlain, kTitle, kLabel, kStrong, kBar, kWarning };

class Page {
 public:
  explicit Page(const TableStyle& style);

  int width() const { return width_; }
  bool unicode() const { return style_.unicode; }

  /// The text, coloured where colour is asked for. Takes no columns more.
  std::string painted(Paint paint, std::string_view text) const;

  void blank() { text_ += '\n'; }
  /// A section's title, with a note at the right where there is room, below it otherwise.
  void section(std::string_view title, std::string_view note);
  /// A line that the caller has measured, colours and all.
  void raw(std::string_view line);
  /// Wrapped, every line behind `indent` spaces.
  void paragraph(std::string_view text, int indent, Paint paint = Paint::kPlain);
  /// A label and a wrapped text that hangs beside it.
  void fact(std::string_view label, std::string_view text, int indent, int label_width,
            Paint label_paint = Paint::kLabel);
  void rule();

  std::string take() { return std::move(text_); }

 private:
  TableStyle style_;
  int width_;
  std::string text_;
};

}  // namespace vivace::report
