// Small text helpers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace vivace {

/// The pieces of `text` between `separator`s; "" gives one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);
/// The words of a command line as a shell splits it: at spaces, with '...', "..." and \ taken off;
/// nothing is expanded. Error: kUsage for a quote that is not closed.
Result<std::vector<std::string>> split_words(std::string_view text);
std::string join(std::span<const std::string> pieces, std::string_view separator);
std::string lower(std::string_view ascii);
/// The text in double quotes, control characters and invalid UTF-8 replaced, cut to `length_max`
/// bytes: any bytes of a user's file can be shown in an error by it.
std::string quote(std::string_view text, std::size_t length_max = 80);
/// The candidate nearest to `name` by edit distance (transpositions count one), or "" when none is
/// near enough to be what was meant.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);
/// FNV-1a, 64 bits: the same on every machine. For names and fingerprints, not against malice.
std::uint64_t hash_of(std::string_view text);
/// True when the bytes are well-formed UTF-8.
bool is_utf8(std::string_view text);
/// The text with each byte that is no part of well-formed UTF-8 replaced by U+FFFD.
std::string to_utf8(std::string_view text);

}  // namespace vivace
