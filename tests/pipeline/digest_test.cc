#include "pipeline/digest.h"

#include "pipeline/pipeline_fixture.h"
#include "support/sha256.h"

namespace vivace::pipeline {
namespace {

std::string sha256(std::string_view text) {
  return vivace::test::sha256_hex(
      {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST(Digest, IsSha256) {
  // FIPS 180-4's own examples.
  Digest empty;
  EXPECT_EQ(empty.finish(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Digest abc;
  abc.add("a");
  abc.add("");
  abc.add("bc");
  EXPECT_EQ(abc.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

class DigestTest : public test::PipelineTest {};

TEST_F(DigestTest, OneFileIsItsOwnAndSeveralAreTheDigestOfDigests) {
  (void)file("a", {'x'});
  (void)file("b", {});
  const std::filesystem::path a = path("a");
  const std::filesystem::path b = path("b");
  EXPECT_EQ(digest_files(std::vector{a}).value(), sha256("x"));
  EXPECT_EQ(digest_files(std::vector{a, b}).value(), sha256(sha256("x") + sha256("")));
  EXPECT_NE(digest_files(std::vector{a, b}).value(), digest_files(std::vector{b, a}).value());
  EXPECT_EQ(digest_files(std::vector{a, path("absent")}).error().code, ErrorCode::kMissingInput);
}

TEST_F(DigestTest, InputsAreToldByWhatTheyHold) {
  const auto bytes = std::string("not a picture, but bytes");
  const media::Source picture = file("p.jpg", {bytes.begin(), bytes.end()});
  EXPECT_EQ(digest_inputs(inputs({picture})).value(), sha256(bytes));
  const auto tensor = inputs({pixels("p.npy", 2)});
  const auto first = digest_inputs(std::span(tensor).first(1)).value();
  const auto second = digest_inputs(std::span(tensor).last(1)).value();
  EXPECT_NE(first, second);
  EXPECT_EQ(digest_inputs(tensor).value(), sha256(first + second));
  EXPECT_NE(digest_inputs(inputs({synthetic(1, 2)})).value(),
            digest_inputs(inputs({synthetic(2, 1)})).value());
}

}  // namespace
}  // namespace vivace::pipeline
