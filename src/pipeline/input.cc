#include "pipeline/input.h"

#include <array>

#include <fmt/format.h>

#include "core/text.h"
#include "pipeline/npy.h"

namespace vivace::pipeline {
namespace {

Result<std::vector<Input>> split_items(const media::Source& source,
                                       const std::shared_ptr<const TensorFile>& file) {
  const TensorView& tensor = file->tensor();
  const bool pixels = tensor.type() == DType::kF32 && tensor.rank() == 4 && tensor.extent(1) == 3;
  const bool decoded = tensor.type() == DType::kU8 && tensor.rank() == 4 && tensor.extent(3) == 3;
  if ((!pixels && !decoded) || tensor.size() == 0) {
    ErrorParts parts{
        .what = fmt::format("{}: not a tensor of pictures", source.name),
        .expected = "float32 [B, 3, H, W] (preprocessed) or uint8 [B, H, W, 3] (decoded)",
        .got = fmt::format("{} {}", name_of(tensor.type()), to_string(tensor.shape())),
        .advice = {}};
    if (tensor.rank() == 5) {
      parts.advice = "tensors of clips need a video model, which this version does not run";
    }
    return fail(ErrorCode::kBadData, parts);
  }
  const std::array<std::int64_t, 3> extents = {tensor.extent(1), tensor.extent(2),
                                               tensor.extent(3)};
  const std::size_t item_bytes =
      static_cast<std::size_t>(element_count(extents)) * size_of(tensor.type());
  std::vector<Input> inputs;
  for (std::int64_t i = 0; i < tensor.extent(0); ++i) {
    Input input{source, file, nullptr, {}};
    input.item = TensorView(
        static_cast<const std::byte*>(tensor.data()) + static_cast<std::size_t>(i) * item_bytes,
        tensor.type(), extents);
    if (tensor.extent(0) > 1) input.source.name += fmt::format("[{}]", i);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace

Result<std::shared_ptr<const TensorFile>> TensorFile::open(const media::Source& source) {
  auto result = std::make_shared<TensorFile>();
  if (lower(source.path).ends_with(".npy")) {
    VIVACE_TRY(result->npy_, platform::MappedFile::open(source.path));
    auto tensor = parse_npy(result->npy_.bytes());
    if (!tensor) return tl::unexpected(with_context(std::move(tensor).error(), source.path));
    result->tensor_ = *tensor;
    return std::shared_ptr<const TensorFile>(std::move(result));
  }
  VIVACE_TRY(result->safetensors_, model::SafetensorsFile::open(source.path));
  const auto tensor = result->safetensors_.find(source.tensor_name);
  if (!tensor) {
    const std::vector<std::string> names = result->safetensors_.names();
    const std::string near = nearest_name(source.tensor_name, names);
    return fail(
        ErrorCode::kMissingInput,
        {.what = source.tensor_name.empty()
                     ? fmt::format("{}: which tensor is meant is missing", source.path)
                     : fmt::format("{}: no tensor {}", source.path, quote(source.tensor_name)),
         .expected =
             names.size() <= 8 ? join(names, ", ") : fmt::format("one of {} names", names.size()),
         .got = quote(source.tensor_name),
         .advice = near.empty() ? std::string("write FILE.safetensors:NAME")
                                : "did you mean " + near + "?"});
  }
  result->tensor_ = *tensor;
  return std::shared_ptr<const TensorFile>(std::move(result));
}

Result<std::vector<Input>> make_inputs(std::span<const media::Source> sources) {
  std::vector<Input> inputs;
  for (const media::Source& source : sources) {
    if (source.kind == media::Source::Kind::kStdin) {
      auto bytes = std::make_shared<std::vector<std::uint8_t>>();
      VIVACE_CHECK_OK(media::read_source(source, *bytes));
      inputs.push_back({source, nullptr, std::move(bytes), {}});
      continue;
    }
    if (source.kind != media::Source::Kind::kTensor) {
      inputs.push_back({source, nullptr, nullptr, {}});
      continue;
    }
    VIVACE_TRY(const auto file, TensorFile::open(source));
    VIVACE_TRY(std::vector<Input> items, split_items(source, file));
    for (Input& item : items) inputs.push_back(std::move(item));
  }
  return inputs;
}

std::string describe_kinds(std::span<const Input> inputs) {
  std::size_t images = 0;
  std::size_t tensors = 0;
  std::size_t synthetic = 0;
  for (const Input& input : inputs) {
    switch (input.source.kind) {
      case media::Source::Kind::kFile:
      case media::Source::Kind::kStdin:
        ++images;
        break;
      case media::Source::Kind::kTensor:
        ++tensors;
        break;
      case media::Source::Kind::kSynthetic:
        ++synthetic;
        break;
    }
  }
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::string_view noun) {
    if (count > 0) parts.push_back(fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"));
  };
  add(images, "image");
  add(tensors, "ready tensor");
  add(synthetic, "synthetic picture");
  return join(parts, ", ");
}

}  // namespace vivace::pipeline
