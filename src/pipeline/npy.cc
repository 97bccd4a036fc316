#include "pipeline/npy.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/text.h"

namespace vivace::pipeline {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeName {
  DType type;
  std::string_view name;
};
constexpr std::array<TypeName, 9> kTypes = {{{DType::kF64, "<f8"},
                                             {DType::kF32, "<f4"},
                                             {DType::kF16, "<f2"},
                                             {DType::kI64, "<i8"},
                                             {DType::kI32, "<i4"},
                                             {DType::kI16, "<i2"},
                                             {DType::kI8, "|i1"},
                                             {DType::kU8, "|u1"},
                                             {DType::kBool, "|b1"}}};

tl::unexpected<Error> bad(std::string what, std::string expected = {}, std::string got = {}) {
  return fail(ErrorCode::kBadData, {.what = std::move(what),
                                    .expected = std::move(expected),
                                    .got = std::move(got),
                                    .advice = "write it with numpy.save"});
}

/// The text after "'KEY':" in the header, which is a Python dict literal of three known keys.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  const std::string needle = fmt::format("'{}':", key);
  const auto at = header.find(needle);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view value = header.substr(at + needle.size());
  while (value.starts_with(' ')) value.remove_prefix(1);
  return value;
}

std::optional<Shape> parse_shape(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  text.remove_prefix(1);
  Shape shape;
  for (;;) {
    while (text.starts_with(' ') || text.starts_with(',')) text.remove_prefix(1);
    if (text.starts_with(')')) return shape;
    std::int64_t extent = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (problem != std::errc() || extent < 0 || shape.size() == TensorView::kRankMax) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    shape.push_back(extent);
  }
}

}  // namespace

Result<TensorView> parse_npy(std::span<const std::byte> file) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  if (!bytes.starts_with(kMagic) || bytes.size() < 10) return bad("not an .npy file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(file[i]); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) {
    return bad("the .npy version", "1, 2 or 3", std::to_string(version));
  }
  const std::size_t prefix = version == 1 ? 10 : 12;
  if (bytes.size() < prefix) return bad("the .npy file is cut short");
  std::size_t header_bytes = byte(8) | byte(9) << 8;
  if (version > 1) header_bytes |= byte(10) << 16 | byte(11) << 24;
  if (header_bytes > bytes.size() - prefix) return bad("the .npy file is cut short");
  const std::string_view header = bytes.substr(prefix, header_bytes);

  const auto descr = value_of(header, "descr");
  const auto order = value_of(header, "fortran_order");
  const auto shape_text = value_of(header, "shape");
  if (!descr || !order || !shape_text) return bad("the .npy header", "descr, fortran_order, shape");
  std::optional<DType> type;
  for (const TypeName& known : kTypes) {
    if (descr->starts_with(fmt::format("'{}'", known.name))) type = known.type;
  }
  if (!type) return bad("the .npy type", "little-endian numbers", quote(descr->substr(0, 12)));
  if (!order->starts_with("False")) return bad("the .npy order", "C order", "Fortran order");
  const auto shape = parse_shape(*shape_text);
  if (!shape) return bad("the .npy shape", "up to 6 extents", quote(shape_text->substr(0, 60)));

  std::size_t size = size_of(*type);
  for (const std::int64_t extent : *shape) {
    if (__builtin_mul_overflow(size, static_cast<std::size_t>(extent), &size)) {
      return bad(fmt::format("the .npy shape {} overflows", to_string(*shape)));
    }
  }
  const std::size_t begin = prefix + header_bytes;
  if (size != bytes.size() - begin) {
    return bad(fmt::format("the data of an .npy file of shape {}", to_string(*shape)),
               fmt::format("{} bytes", size), std::to_string(bytes.size() - begin));
  }
  return TensorView(file.data() + begin, *type, *shape);
}

std::string npy_header(DType type, std::span<const std::int64_t> shape) {
  std::string_view name;
  for (const TypeName& known : kTypes) {
    if (known.type == type) name = known.name;
  }
  VIVACE_CHECK(!name.empty());
  std::string extents;
  for (const std::int64_t extent : shape) extents += fmt::format("{}, ", extent);
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (shape.size() == 1) extents.resize(extents.size() - 1);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", name, extents);
  // The data start at a multiple of 64.
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

}  // namespace vivace::pipeline
