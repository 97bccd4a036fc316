// What one operator of a forward pass costs, by shape alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "record/stage.h"

namespace vivace {

/// FLOPs are 2 x multiply-adds plus nothing for the cheap elementwise work beside a product; an
/// operator without a product counts one per value and step. Bytes are the unavoidable ones:
/// weights once, activations in and out.
struct OperatorCost {
  std::string name;  ///< "qkv", "attention", "mlp_in" ...
  Stage stage = Stage::kContextEncode;
  std::int64_t calls = 1;
  double flops = 0;  ///< of all calls
  double bytes = 0;  ///< of all calls
};

inline double total_flops(std::span<const OperatorCost> costs) {
  double flops = 0;
  for (const OperatorCost& cost : costs) flops += cost.flops;
  return flops;
}

}  // namespace vivace
