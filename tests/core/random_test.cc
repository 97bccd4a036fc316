// Seeded numbers: the same bits on every machine, and as precise as random.h says. The goldens run
// on every architecture that is built for.
#include "core/random.h"

#include <cmath>
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace vivace {
namespace {

constexpr const char* kName = "encoder.layer.0.attention.attention.query.weight";

TEST(Random, BitsAreSplitMix64) {
  // Published values of the generator started at 0 and at 1234567.
  const std::uint64_t zero[] = {0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u, 0x06c45d188009454fu,
                                0xf88bb8a8724c81ecu};
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(random_bits(0, i), zero[i]);
  const std::uint64_t other[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                 4593380528125082431u, 16408922859458223821u};
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(random_bits(1234567, i), other[i]);
}

TEST(Random, StreamsAreGolden) {
  EXPECT_EQ(stream_key(0, kName), 0xcb9362d710209ec7u);
  EXPECT_EQ(stream_key(0, "a"), 0x2cda47b74e35244bu);
  EXPECT_EQ(stream_key(1, ""), 0x10aea8064032f966u);
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const char* name : {"", "a", "b", "ab", "ba"}) keys.insert(stream_key(seed, name));
  }
  EXPECT_EQ(keys.size(), 500U);
}

TEST(Random, NormalsAreGolden) {
  const double golden[] = {
      0x1.5abd7d51d3facp+0,  -0x1.a94fcb58f3cacp-1, 0x1.653666a2770c6p-2,  0x1.9e3390288b244p-1,
      -0x1.8ee8cc74712dfp-2, -0x1.af58b4781d152p-3, 0x1.ba7cd819dd623p-3,  0x1.4680091a1a965p-3,
      0x1.d9e2bdb15ca35p-3,  0x1.c143a02031efap-2,  0x1.179d81bd8af1fp-1,  0x1.18a949c7bf872p+1,
      0x1.e59270dc24ce6p-4,  0x1.42af56f00b94ep-1,  -0x1.59585c79ce896p-2, -0x1.1ca102c3ea0d4p-1,
      -0x1.9737e68100052p+0, 0x1.18d1befe821a5p+0,  0x1.d782a3051e709p-1,  -0x1.7ec59bc33ff7p-1,
  };
  const std::uint64_t key = stream_key(0, kName);
  for (std::uint64_t i = 0; i < std::size(golden); ++i) {
    EXPECT_EQ(random_normal(key, i), golden[i]) << i;
  }
}

TEST(Random, FunctionsAreGolden) {
  struct Turn {
    double x, sine, cosine;
  };
  for (const Turn& turn : {
           Turn{0x1.999999999999ap-4, 0x1.98eaecb8bcb2dp-4, 0x1.fd712f9a817c1p-1},
           {0x1p+0, 0x1.aed548f090ceep-1, 0x1.14a280fb5068bp-1},
           {0x1.4p+1, 0x1.326af0dcfcabp-1, -0x1.9a2f7ef858b7ep-1},
           {-0x1.ep+1, 0x1.24a3af6750622p-1, -0x1.a4205b28667f7p-1},
           {0x1.9p+6, -0x1.03425b78c4db9p-1, 0x1.b981dbf665fep-1},
           {0x1.81cd6c8b43958p+13, -0x1.687d5890974a5p-1, 0x1.6b94c3bbe24b7p-1},
           {-0x1.869f8p+16, -0x1.055f282f41bdap-1, -0x1.b8428c9f69a2fp-1},
       }) {
    EXPECT_EQ(portable_sin(turn.x), turn.sine) << turn.x;
    EXPECT_EQ(portable_cos(turn.x), turn.cosine) << turn.x;
  }
  struct Pair {
    double x, y;
  };
  for (const Pair& pair : {
           Pair{-0x1.5ep+9, 0x1.14f2b0fb9307ep-1010},
           {-0x1.26bb1bbb55515p+3, 0x1.a36e2eb1c4333p-14},
           {-0x1.3333333333333p-2, 0x1.7b4c869c37c04p-1},
           {0x0p+0, 0x1p+0},
           {0x1p+0, 0x1.5bf0a8b145768p+1},
           {0x1.48p+4, 0x1.7d6c4f0bcdd5ep+29},
           {0x1.5ep+9, 0x1.d945df4f8ec8ep+1009},
       }) {
    EXPECT_EQ(portable_exp(pair.x), pair.y) << pair.x;
  }
  for (const Pair& pair : {
           Pair{0x1.56e1fc2f8f359p-997, -0x1.5963447f87fb5p+9},
           {0x1.4f8b588e368f1p-17, -0x1.7069e2aa2aa5bp+3},
           {0x1p-1, -0x1.62e42fefa39efp-1},
           {0x1.6a09e65dc27dfp-1, -0x1.62e4300c77ae9p-2},
           {0x1p+0, 0x0p+0},
           {0x1.8p+0, 0x1.9f323ecbf984cp-2},
           {0x1.7e43c8800759cp+996, 0x1.5963447f87fb5p+9},
       }) {
    EXPECT_EQ(portable_log(pair.x), pair.y) << pair.x;
  }
}

TEST(Random, QuantilesAgreeWithHighPrecision) {
  struct Point {
    double p, quantile;
  };
  // sqrt(2) erfinv(2 p - 1) by mpmath with 60 digits, p being the double.
  for (const Point& point : {
           Point{1e-300, -37.047096299361199237}, {1e-100, -21.273453560965324294},
           {1e-20, -9.2623400897984075796},       {1e-10, -6.3613409024040561991},
           {1e-05, -4.2648907939228246102},       {0.001, -3.0902323061678135354},
           {0.01, -2.3263478740408410931},        {0.025, -1.9599639845400542118},
           {0.07, -1.4757910281791706856},        {0.075, -1.4395314709384559349},
           {0.1, -1.2815515655446004353},         {0.25, -0.6744897501960817432},
           {0.4, -0.25334710313579974132},        {0.49999, -0.000025066282748960008527},
           {0.50001, 0.000025066282748820862706}, {0.6, 0.25334710313579974132},
           {0.75, 0.6744897501960817432},         {0.9, 1.2815515655446005935},
           {0.925, 1.4395314709384562291},        {0.95, 1.6448536269514722843},
           {0.975, 1.9599639845400538556},        {0.99, 2.3263478740408407676},
           {0.999, 3.0902323061678132778},        {0.99999, 4.2648907939238407699},
           {0.9999999999, 6.3613408896974218642}, {0.9999999999999999, 8.2095361516013868556},
       }) {
    EXPECT_NEAR(normal_quantile(point.p) / point.quantile, 1.0, 1e-13) << point.p;
  }
  EXPECT_EQ(normal_quantile(0.5), 0.0);
}

TEST(Random, QuantilesAreOddAndIncreasing) {
  double last = -HUGE_VAL;
  for (int i = 1; i < 4096; ++i) {
    const double p = i / 4096.0;
    const double value = normal_quantile(p);
    EXPECT_GT(value, last) << p;
    EXPECT_EQ(normal_quantile(1 - p), -value) << p;
    last = value;
  }
}

TEST(Random, NormalsAreFiniteAndHaveTheirMoments) {
  constexpr int kCount = 200'000;
  double sum = 0;
  double square = 0;
  double fourth = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double x = random_normal(42, i);
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
  }
  // Five standard errors; the seed is fixed, so this cannot flicker.
  EXPECT_NEAR(sum / kCount, 0, 5 * std::sqrt(1.0 / kCount));
  EXPECT_NEAR(square / kCount, 1, 5 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(fourth / kCount, 3, 5 * std::sqrt(96.0 / kCount));
}

TEST(Random, SineAndCosineKeepTheirPromise) {
  for (int i = -20'000; i <= 20'000; ++i) {
    const double x = i * 4.9999;
    ASSERT_NEAR(portable_sin(x), std::sin(x), 1e-14) << x;
    ASSERT_NEAR(portable_cos(x), std::cos(x), 1e-14) << x;
    const double small = i * 1e-4;
    ASSERT_NEAR(portable_sin(small), std::sin(small), 1e-14) << small;
    ASSERT_NEAR(portable_cos(small), std::cos(small), 1e-14) << small;
  }
}

TEST(Random, ExpAndLogKeepTheirPromise) {
  for (int i = -7000; i <= 7000; ++i) {
    const double x = i * 0.1;
    ASSERT_NEAR(portable_exp(x) / std::exp(x), 1.0, 1e-14) << x;
    const double y = std::exp(x) * 1.03;
    const double log = std::log(y);
    ASSERT_LE(std::abs(portable_log(y) - log), 1e-14 * std::abs(log)) << y;
  }
  // Near 1 the logarithm vanishes, and the error with it.
  for (int i = -1000; i <= 1000; ++i) {
    const double y = 1 + i * 1e-6;
    ASSERT_LE(std::abs(portable_log(y) - std::log(y)), 1e-14 * std::abs(std::log(y))) << y;
  }
}

}  // namespace
}  // namespace vivace
