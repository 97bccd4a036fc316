#include "report/duration_scale.h"

#include <string>

#include <gtest/gtest.h>

#include "core/units.h"

namespace vivace::report {
namespace {

TEST(DurationScale, AgreesWithTheUnitsOfASingleDuration) {
  for (const double ns : {0.0, 1.0, 830.0, 999.0, 999.6, 1250.0, 99'940.0, 99'960.0, 999'499.0,
                          999'600.0, 12.5e6, 1.25e9, 599e9, 601e9, 7200e9}) {
    EXPECT_EQ(DurationScale(ns).text(ns), format_duration(ns)) << ns;
  }
}

TEST(DurationScale, OneUnitForAll) {
  const DurationScale scale(12.4e6);
  EXPECT_EQ(scale.text(12.4e6), "12.4 ms");
  EXPECT_EQ(scale.text(0.9e6), "0.9 ms");
  EXPECT_EQ(scale.text(1234.5e6), "1234.5 ms");
  EXPECT_TRUE(scale.suits(1234.5e6));
  EXPECT_FALSE(scale.suits(200e9));
  EXPECT_EQ(scale.fine_text(0.331e6), "0.331 ms");
  EXPECT_EQ(scale.fine_text(0.0331e6), "0.0331 ms");
  EXPECT_EQ(scale.fine_text(0), "0.0 ms");
  EXPECT_TRUE(scale.suits_finely(0.0331e6));
  EXPECT_FALSE(scale.suits_finely(17));
  EXPECT_EQ(DurationScale(1500, false).text(1500), "1.50 us");
}

TEST(DurationScale, SeparatesAValueFromItsBounds) {
  DurationScale scale(12.4e6);
  scale.separate(12'400'000, 12'400'000);
  EXPECT_EQ(scale.number(12.4e6), "12.4");
  scale.separate(12'400'000, 12'380'000);
  EXPECT_EQ(scale.number(12.38e6), "12.38");
  scale.separate(12'400'000, 12'399'999);  // two more decimals at most
  EXPECT_EQ(scale.number(12.399999e6), "12.400");
  DurationScale whole(500);
  whole.separate(500, 501);
  EXPECT_EQ(whole.text(500), "500 ns");
}

}  // namespace
}  // namespace vivace::report
