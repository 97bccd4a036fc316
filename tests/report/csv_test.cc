#include "report/csv.h"

#include <gtest/gtest.h>

#include "report/golden.h"
#include "result/example_document.h"

namespace vivace::report {
namespace {

TEST(Csv, OneRowPerSample) {
  test::expect_golden("samples.csv", render_csv(test::example_document(5)));
}

TEST(Csv, WithoutSamplesOnlyTheNames) {
  EXPECT_EQ(render_csv(result::Document()), "index,latency_ns\n");
}

TEST(Csv, NamesAreQuotedWhereTheyMust) {
  result::Document document;
  document.samples.latency_ns = {7};
  document.samples.covariates = {{"a,\"b\"\n", {0.5}}};
  EXPECT_EQ(render_csv(document), "index,latency_ns,\"a,\"\"b\"\"\n\"\n0,7,0.5\n");
}

}  // namespace
}  // namespace vivace::report
