// SHA-256 of what was measured, so that a result can be told from one of other weights or inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "pipeline/input.h"

namespace vivace::pipeline {

/// Bytes in, 64 hexadecimal digits out.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  /// Ends the digest; nothing can be added afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Of one file: the digest that sha256sum prints. Of several: the digest of their digests in text,
/// in the order given.
Result<std::string> digest_files(std::span<const std::filesystem::path> files);

/// Of inputs: the file's own digest for one file, else the digest of the items' digests in text.
Result<std::string> digest_inputs(std::span<const Input> inputs);

}  // namespace vivace::pipeline
