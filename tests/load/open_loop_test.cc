#include "load/open_loop.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "stats/quantile.h"
#include "stats/reference.h"

namespace vivace::load {
namespace {

void expect_distribution(std::vector<std::int64_t> values, const Json& expected) {
  std::sort(values.begin(), values.end());
  for (const auto& [p, want] : test::member(expected, "percentiles_ns").as_object()) {
    EXPECT_EQ(stats::percentile_value(values, test::probability(p)), want.as_integer()) << p;
  }
  EXPECT_EQ(values.back(), test::member(expected, "max_ns").as_integer());
  if (const Json* mean = expected.find("mean_ns")) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    test::expect_relative(sum / static_cast<double>(values.size()), mean->as_number(), 1e-12,
                          "mean");
  }
}

TEST(OpenLoop, MatchesReference) {
  VIVACE_REQUIRE_CASES(cases);
  for (const Json& one : test::read_cases(cases / "stats-openloop" / "schedule.json")) {
    SCOPED_TRACE(test::member(one, "id").as_string());
    const Json& inputs = test::member(one, "inputs");
    const auto intended = test::integers(test::member(inputs, "intended_ns"));
    const auto service = test::integers(test::member(inputs, "service_ns"));
    const std::int64_t servers = test::member(inputs, "servers").as_integer();
    const auto requests = serve_in_order(intended, service, servers);
    const Json& expected = test::member(one, "expected");
    const auto start = test::integers(test::member(expected, "start_ns"));
    for (std::size_t i = 0; i < start.size(); ++i) EXPECT_EQ(requests[i].start_ns, start[i]) << i;
    const OpenLoopAccount result = account(requests, servers);
    expect_distribution(result.response_ns, test::member(expected, "response"));
    expect_distribution(result.service_ns, test::member(expected, "service"));
    expect_distribution(result.wait_ns, test::member(expected, "wait"));
    EXPECT_EQ(result.span_ns, test::member(expected, "span_ns").as_integer());
    const auto near = [&](double got, const char* key) {
      test::expect_relative(got, test::member(expected, key).as_number(), 1e-12, key);
    };
    near(result.arrival_rate_hz, "arrival_rate_hz");
    near(result.mean_in_system, "mean_in_system");
    near(result.utilisation, "utilisation");
    EXPECT_LT(result.little_difference, 1e-9);
    EXPECT_EQ(last_send_of_a_waiting_caller_ns(intended, service),
              test::member(expected, "last_send_of_a_waiting_caller_ns").as_integer());
  }
}

TEST(Schedule, ConstantIsEvenAndPoissonIsNot) {
  EXPECT_EQ(constant_schedule(4, 100),
            (std::vector<std::int64_t>{0, 10'000'000, 20'000'000, 30'000'000}));
  EXPECT_TRUE(constant_schedule(0, 100).empty());
  const auto poisson = poisson_schedule(20'000, 100, 1);
  EXPECT_EQ(poisson, poisson_schedule(20'000, 100, 1));
  EXPECT_NE(poisson, poisson_schedule(20'000, 100, 2));
  EXPECT_TRUE(std::is_sorted(poisson.begin(), poisson.end()));
  // Exponential gaps: their mean and their standard deviation are both 10 ms (within 3%, four
  // standard errors).
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 1; i < poisson.size(); ++i) {
    const double gap = static_cast<double>(poisson[i] - poisson[i - 1]) * 1e-6;
    sum += gap;
    squares += gap * gap;
  }
  const auto count = static_cast<double>(poisson.size() - 1);
  EXPECT_NEAR(sum / count, 10, 0.3);
  EXPECT_NEAR(std::sqrt(squares / count - sum / count * sum / count), 10, 0.4);
}

TEST(Schedule, ATraceIsSortedAndBeginsAtZero) {
  EXPECT_EQ(trace_schedule(std::vector<std::int64_t>{70, 50, 90}).value(),
            (std::vector<std::int64_t>{0, 20, 40}));
  const auto none = trace_schedule({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUsage);
}

/// One server, 100 requests a second, 5 ms each; it stalls for a second once.
TEST(OpenLoop, ShowsTheStallThatTheClosedLoopHides) {
  const auto intended = constant_schedule(1000, 100);
  std::vector<std::int64_t> service(1000, 5'000'000);
  service[300] = 1'000'000'000;
  const OpenLoopAccount open = account(serve_in_order(intended, service, 1), 1);
  const auto p99 = [](std::vector<std::int64_t> values) {
    std::sort(values.begin(), values.end());
    return stats::percentile_value(values, stats::Probability(99, 100));
  };
  // What a caller that waits would report: one slow request of a thousand.
  EXPECT_EQ(p99(open.service_ns), 5'000'000);
  // What users met: the queue behind it.
  EXPECT_GT(p99(open.response_ns), 800'000'000);
}

/// Four workers, one of which stalls for two seconds: the others go on, and the requests that it
/// holds do not.
TEST(OpenLoop, ShowsAStalledWorker) {
  const auto intended = constant_schedule(2000, 350);
  std::vector<std::int64_t> service(2000, 10'000'000);
  for (std::size_t i = 500; i < 503; ++i) service[i] = 2'000'000'000;
  const OpenLoopAccount open = account(serve_in_order(intended, service, 4), 4);
  const auto slow = std::count_if(open.response_ns.begin(), open.response_ns.end(),
                                  [](std::int64_t x) { return x > 100'000'000; });
  const auto slow_service = std::count_if(open.service_ns.begin(), open.service_ns.end(),
                                          [](std::int64_t x) { return x > 100'000'000; });
  EXPECT_EQ(slow_service, 3);
  EXPECT_GT(slow, 400);
}

TEST(OpenLoop, AccountsForALateGenerator) {
  const std::vector<OpenRequest> requests = {
      {.intended_ns = 0, .sent_ns = 0, .start_ns = 0, .end_ns = 10},
      {.intended_ns = 100, .sent_ns = 130, .start_ns = 130, .end_ns = 140}};
  const OpenLoopAccount result = account(requests, 1);
  EXPECT_EQ(result.lag_ns, (std::vector<std::int64_t>{0, 30}));
  EXPECT_EQ(result.response_ns, (std::vector<std::int64_t>{10, 40}));
}

}  // namespace
}  // namespace vivace::load
