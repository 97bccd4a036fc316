// What the instrument itself costs: a recorded span, the covariates that are read at each sample,
// and the surroundings that are read between samples. Run on a quiet machine:
//   cmake --build BUILD --target vivace_bench_instrument && BUILD/bench/vivace_bench_instrument
#include <benchmark/benchmark.h>

#include "platform/clock.h"
#include "platform/probe.h"
#include "platform/surroundings.h"
#include "platform/usage.h"
#include "record/recorder.h"

namespace {

void three_clock_reads(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < 3; ++i) benchmark::DoNotOptimize(vivace::platform::now_ns());
  }
}
BENCHMARK(three_clock_reads);

/// At most 60 ns, or three clock reads if those are more.
void recorded_span(benchmark::State& state) {
  vivace::Recorder recorder;
  for (auto _ : state) {
    const vivace::Recorder::Scope scope(recorder, vivace::Stage::kDecode);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(recorded_span);

/// At most 5 us: what the loop reads before and after the stamps of one sample.
void covariates_of_a_sample(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(vivace::platform::current_cpu());
    benchmark::DoNotOptimize(vivace::platform::read_usage());
    benchmark::DoNotOptimize(vivace::platform::read_usage());
    benchmark::DoNotOptimize(vivace::platform::current_cpu());
  }
}
BENCHMARK(covariates_of_a_sample);

void surroundings(benchmark::State& state) {
  const vivace::platform::SurroundingsReader reader;
  for (auto _ : state) benchmark::DoNotOptimize(reader.read());
}
BENCHMARK(surroundings);

void spin_probe(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(vivace::platform::spin_probe_ns());
}
BENCHMARK(spin_probe);

void memory_probe(benchmark::State& state) {
  vivace::platform::MemoryProbe probe;
  for (auto _ : state) benchmark::DoNotOptimize(probe.read_ns());
}
BENCHMARK(memory_probe);

}  // namespace

BENCHMARK_MAIN();
