// Takes the tensors of a checkpoint one by one under checked shapes, and afterwards tells which
// nobody took. Collects problems rather than stopping at the first: someone with a wrong checkpoint
// wants to see what kind of wrong it is.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/checkpoint.h"

namespace vivace::model {

class TensorReader {
 public:
  /// An extent that may be anything, and is read from the tensor.
  static constexpr std::int64_t kAny = -1;

  explicit TensorReader(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  /// The tensor, with the shape as expected; a null view after a problem was noted.
  TensorView take(const std::string& name, const Shape& expected);
  /// The tensor as float32; as many zeros as expected after a problem.
  std::vector<float> take_f32(const std::string& name, const Shape& expected);
  /// Leaves these out of the unknown ones.
  void ignore(const std::string& name) { taken_.insert(name); }
  void note(std::string problem) { problems_.push_back(std::move(problem)); }

  bool ok() const { return problems_.empty(); }
  std::int64_t parameters() const { return parameters_; }
  /// kBadData with the first problems that were noted, if any.
  Result<void> problems() const;
  /// The same after every tensor that nobody took has been noted as unknown.
  Result<void> finish();

 private:
  const Checkpoint& checkpoint_;
  std::set<std::string> taken_;
  std::vector<std::string> problems_;
  std::int64_t parameters_ = 0;
};

}  // namespace vivace::model
