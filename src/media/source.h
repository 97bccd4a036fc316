// Inputs as the command line has them, made into a list of things that can be read one by one:
// files, folders, globs, lists, standard input, ready tensors, synthetic pictures.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/units.h"
#include "media/image.h"

namespace vivace::media {

struct Source {
  enum class Kind {
    kFile,       ///< an encoded picture at `path`
    kStdin,      ///< an encoded picture on standard input
    kSynthetic,  ///< make_synthetic_image(); results must say so
    kTensor,     ///< ready numbers; the pipeline reads them
  };
  Kind kind = Kind::kFile;
  std::string name;         ///< as results and messages show it
  std::string path;         ///< of a file or a tensor's file
  std::string tensor_name;  ///< inside a .safetensors file; "" for .npy
  Size2 synthetic_size;     ///< of a synthetic picture
};

/// What each input stands for, in the order given:
///   FILE                     itself; it must exist
///   FOLDER                   its pictures by extension (jpg jpeg jpe jfif png webp), in the
///                            order of their names' bytes; not its sub-folders, not hidden files
///   'GLOB'                   the files that match (a quoted *, ?, [..]; every extension), sorted;
///                            a path that exists under that very name is that file
///   @LIST                    one path a line, relative to the current folder; blank lines and
///                            lines that begin with # are skipped
///   -                        standard input, once
///   synthetic[:HxW]          a seeded picture, 480x640 unless said
///   FILE.npy, FILE.safetensors:NAME   ready tensors (a missing NAME is told by who opens it)
/// Errors: kMissingInput (names what is not there), kUsage, kUnavailable (URLs, clips).
Result<std::vector<Source>> expand_inputs(std::span<const std::string> inputs);

/// Reads all bytes of a kFile or kStdin source into `bytes`, which keeps its capacity. Errors:
/// kMissingInput (not there, a folder, not permitted), kBadData (over kSourceBytesMax),
/// kInputOutput, kInterrupted (a signal while waiting for a pipe).
Result<void> read_source(const Source& source, std::vector<std::uint8_t>& bytes);

inline constexpr std::int64_t kSourceBytesMax = std::int64_t{1} << 30;

/// A picture that depends on nothing but size and seed, the same on every machine.
void make_synthetic_image(Size2 size, std::uint64_t seed, Image& out);

}  // namespace vivace::media
