// Stamps the stages of one request. Each stage has stamps of its own, so that what lies between
// two stages shows as unattributed instead of being given to a neighbour.
#pragma once

#include "platform/clock.h"
#include "record/stage.h"

namespace vivace {

/// Used by one request at a time; reset() before each. Two clock readings a stage, no allocation.
class Recorder {
 public:
  void reset() { times_.fill(0); }
  void add(Stage stage, std::int64_t elapsed_ns) {
    times_[static_cast<std::size_t>(stage)] += elapsed_ns;
  }
  const StageTimes& times() const { return times_; }
  std::int64_t sum_ns() const {
    std::int64_t sum = 0;
    for (const std::int64_t time : times_) sum += time;
    return sum;
  }

  /// Gives the time of its life to a stage.
  class Scope {
   public:
    Scope(Recorder& recorder, Stage stage)
        : recorder_(recorder), stage_(stage), start_ns_(platform::now_ns()) {}
    ~Scope() { recorder_.add(stage_, platform::now_ns() - start_ns_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Recorder& recorder_;
    Stage stage_;
    std::int64_t start_ns_;
  };

 private:
  StageTimes times_{};
};

}  // namespace vivace
