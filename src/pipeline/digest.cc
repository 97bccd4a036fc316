#include "pipeline/digest.h"

#include <openssl/evp.h>

#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "platform/file.h"

namespace vivace::pipeline {
namespace {

std::string digest_of(std::span<const std::byte> bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.finish();
}

Result<std::string> digest_file(const std::filesystem::path& path) {
  VIVACE_TRY(const platform::MappedFile file, platform::MappedFile::open(path));
  return digest_of(file.bytes());
}

Result<std::string> digest_item(const Input& input) {
  switch (input.source.kind) {
    case media::Source::Kind::kFile:
      return digest_file(input.source.path);
    case media::Source::Kind::kStdin:
      return digest_of(std::as_bytes(std::span(*input.bytes)));
    case media::Source::Kind::kTensor:
      return digest_of({static_cast<const std::byte*>(input.item.data()), input.item.bytes()});
    case media::Source::Kind::kSynthetic:
      break;
  }
  return digest_of(std::as_bytes(std::span(input.source.name)));
}

std::string combined(const std::vector<std::string>& digests) {
  if (digests.size() == 1) return digests[0];
  Digest all;
  for (const std::string& digest : digests) all.add(digest);
  return all.finish();
}

}  // namespace

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Digest::Digest() : state_(std::make_unique<State>()) {
  VIVACE_CHECK(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}
Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes) {
  VIVACE_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Digest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned int count = 0;
  VIVACE_CHECK(EVP_DigestFinal_ex(state_->context, bytes.data(), &count) == 1);
  std::string text;
  for (unsigned int i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

Result<std::string> digest_files(std::span<const std::filesystem::path> files) {
  std::vector<std::string> digests;
  for (const std::filesystem::path& file : files) {
    VIVACE_TRY(std::string digest, digest_file(file));
    digests.push_back(std::move(digest));
  }
  return combined(digests);
}

Result<std::string> digest_inputs(std::span<const Input> inputs) {
  std::vector<std::string> digests;
  for (const Input& input : inputs) {
    VIVACE_TRY(std::string digest, digest_item(input));
    digests.push_back(std::move(digest));
  }
  return combined(digests);
}

}  // namespace vivace::pipeline
