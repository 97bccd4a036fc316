#include "model/tensor_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/text.h"

namespace vivace::model {
namespace {

constexpr std::size_t kProblemsShownMax = 5;

std::string expected_text(const Shape& shape) {
  std::string text = to_string(shape);
  for (auto at = text.find("-1"); at != std::string::npos; at = text.find("-1")) {
    text.replace(at, 2, "any");
  }
  return text;
}

bool fits(const Shape& expected, std::span<const std::int64_t> found) {
  if (expected.size() != found.size()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != TensorReader::kAny && expected[i] != found[i]) return false;
    if (found[i] < 1) return false;
  }
  return true;
}

}  // namespace

TensorView TensorReader::take(const std::string& name, const Shape& expected) {
  taken_.insert(name);
  const auto view = checkpoint_.find(name);
  if (!view) {
    note(fmt::format("tensor {} is missing (expected shape {})", quote(name),
                     expected_text(expected)));
    return {};
  }
  if (!fits(expected, view->shape())) {
    note(fmt::format("tensor {} has a wrong shape (expected {}, got {})", quote(name),
                     expected_text(expected), to_string(view->shape())));
    return {};
  }
  if (view->type() != DType::kF32 && view->type() != DType::kF16 && view->type() != DType::kBF16) {
    note(fmt::format("tensor {} has a wrong type (expected F32, F16 or BF16, got {})", quote(name),
                     name_of(view->type())));
    return {};
  }
  parameters_ += view->size();
  return *view;
}

std::vector<float> TensorReader::take_f32(const std::string& name, const Shape& expected) {
  const TensorView view = take(name, expected);
  if (view.is_null()) return {};
  std::vector<float> values(static_cast<std::size_t>(view.size()));
  convert_to_f32(view, values);
  return values;
}

Result<void> TensorReader::finish() {
  const std::vector<std::string> known(taken_.begin(), taken_.end());
  for (const std::string& name : checkpoint_.names()) {
    if (taken_.contains(name)) continue;
    // The search is slow on a thousand names; only what will be shown is worth it.
    const std::string near =
        problems_.size() < kProblemsShownMax ? nearest_name(name, known) : std::string();
    note(fmt::format("tensor {} is not part of this model{}", quote(name),
                     near.empty() ? "" : " (nearest known name: " + quote(near) + ")"));
  }
  return problems();
}

Result<void> TensorReader::problems() const {
  if (problems_.empty()) return {};
  const std::size_t shown = std::min(problems_.size(), kProblemsShownMax);
  std::string text = checkpoint_.folder().string() + ": " +
                     join(std::span<const std::string>(problems_).first(shown), "; ");
  if (shown < problems_.size()) text += fmt::format("; and {} more", problems_.size() - shown);
  return fail(ErrorCode::kBadData, std::move(text));
}

}  // namespace vivace::model
