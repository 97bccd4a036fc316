#include "report/text_layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/check.h"
#include "core/text.h"

namespace vivace::report {
namespace {

using Range = std::pair<char32_t, char32_t>;

// Wide and zero-width blocks after Unicode's EastAsianWidth.txt and general categories Mn and Cf,
// whole blocks at a time: a table needs columns that line up, not typography.
constexpr std::array<Range, 12> kWide = {{{0x1100, 0x115f},
                                          {0x2e80, 0x303e},
                                          {0x3041, 0xa4cf},
                                          {0xa960, 0xa97c},
                                          {0xac00, 0xd7a3},
                                          {0xf900, 0xfaff},
                                          {0xfe30, 0xfe6f},
                                          {0xff00, 0xff60},
                                          {0xffe0, 0xffe6},
                                          {0x1f300, 0x1f64f},
                                          {0x1f680, 0x1f9ff},
                                          {0x20000, 0x3fffd}}};
constexpr std::array<Range, 7> kZeroWidth = {{{0x300, 0x36f},
                                              {0x483, 0x489},
                                              {0x1ab0, 0x1aff},
                                              {0x1dc0, 0x1dff},
                                              {0x200b, 0x200d},
                                              {0x20d0, 0x20ff},
                                              {0xfe00, 0xfe0f}}};
// Controls, line and paragraph separators, and marks that turn the direction of writing.
constexpr std::array<Range, 6> kUnsafe = {{{0x0, 0x1f},
                                           {0x7f, 0x9f},
                                           {0x200e, 0x200f},
                                           {0x2028, 0x202e},
                                           {0x2066, 0x2069},
                                           {0xfeff, 0xfeff}}};

template <std::size_t N>
bool lies_in(char32_t c, const std::array<Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& range) { return c >= range.first && c <= range.second; });
}

struct Character {
  std::string_view bytes;
  char32_t code = 0;
  bool valid = false;
};

/// The character at the start of a text that is not empty; an invalid byte stands alone.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length > text.size() || !is_utf8(text.substr(0, length)))
    return {text.substr(0, 1), 0, false};
  constexpr std::array<unsigned char, 5> kLeadBits = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t code = lead & kLeadBits[length];
  for (std::size_t i = 1; i < length; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  return {text.substr(0, length), code, true};
}

int width_of(const Character& character) {
  if (!character.valid) return 1;
  if (lies_in(character.code, kZeroWidth)) return 0;
  return lies_in(character.code, kWide) ? 2 : 1;
}

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> characters;
  while (!text.empty()) {
    characters.push_back(first_character(text));
    text.remove_prefix(characters.back().bytes.size());
  }
  return characters;
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  for (const Character& character : characters_of(text)) width += width_of(character);
  return width;
}

std::string printable(std::string_view text, bool unicode) {
  std::string safe;
  for (const Character& character : characters_of(text)) {
    if (!character.valid || lies_in(character.code, kUnsafe)) {
      safe += unicode ? "\ufffd" : "?";
    } else if (!unicode && character.code > 0x7f) {
      safe += '?';
    } else {
      safe += character.bytes;
    }
  }
  return safe;
}

std::string shorten_middle(std::string_view text, int width, bool unicode) {
  VIVACE_CHECK(width >= 5);
  if (display_width(text) <= width) return std::string(text);
  const std::string_view ellipsis = unicode ? "\u2026" : "...";
  const int room = width - display_width(ellipsis);
  const std::vector<Character> characters = characters_of(text);
  // The end (a file's name) gets the larger half.
  std::string tail;
  int tail_width = 0;
  for (auto it = characters.rbegin(); it != characters.rend(); ++it) {
    if (tail_width + width_of(*it) > (room + 1) / 2) break;
    tail_width += width_of(*it);
    tail.insert(0, it->bytes);
  }
  std::string head;
  int head_width = 0;
  for (const Character& character : characters) {
    if (head_width + width_of(character) > room - tail_width) break;
    head_width += width_of(character);
    head += character.bytes;
  }
  return head + std::string(ellipsis) + tail;
}

std::vector<std::string> wrap(std::string_view text, int width, bool unicode) {
  std::vector<std::string> lines(1);
  int used = 0;
  for (const std::string_view piece : split(text, ' ')) {
    if (piece.empty()) continue;
    const std::string word = shorten_middle(piece, width, unicode);
    const int columns = display_width(word);
    if (used > 0 && used + 1 + columns > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) lines.back() += ' ';
    lines.back() += word;
    used += (used > 0 ? 1 : 0) + columns;
  }
  return lines;
}

std::string pad_right(std::string_view text, int width) {
  const int missing = std::max(0, width - display_width(text));
  return std::string(text) + std::string(static_cast<std::size_t>(missing), ' ');
}

std::string pad_left(std::string_view text, int width) {
  const int missing = std::max(0, width - display_width(text));
  return std::string(static_cast<std::size_t>(missing), ' ') + std::string(text);
}

}  // namespace vivace::report
