// Highway keeps one process-wide mask of usable targets; selecting a target narrows that mask.
#include "kernels/target.h"

#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/target.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace vivace::kernels {
namespace HWY_NAMESPACE {

std::int64_t Target() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace vivace::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vivace::kernels {
namespace {

HWY_EXPORT(Target);

/// All compiled targets that the machine runs. Asked once: asking also resets the selection.
std::int64_t usable() {
  static const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return targets;
}

std::vector<std::int64_t> runnable() {
  std::vector<std::int64_t> targets;
  // Lower bits are better targets.
  for (int bit = 0; bit < 63; ++bit) {
    const std::int64_t target = std::int64_t{1} << bit;
    if ((usable() & target) != 0) targets.push_back(target);
  }
  return targets;
}

}  // namespace

std::string_view target_name() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(Target)()); }

std::vector<std::string_view> runnable_targets() {
  std::vector<std::string_view> names;
  for (const std::int64_t target : runnable()) names.emplace_back(hwy::TargetName(target));
  return names;
}

bool select_target(std::string_view name) {
  if (name.empty()) {
    hwy::GetChosenTarget().Update(usable());
    return true;
  }
  for (const std::int64_t target : runnable()) {
    if (name != hwy::TargetName(target)) continue;
    hwy::GetChosenTarget().Update(target);
    return true;
  }
  return false;
}

}  // namespace vivace::kernels
#endif  // HWY_ONCE
