// Embeds image files with the library: prints each embedding's size, its first values, and the time
// of every stage. Usage: embed_image CHECKPOINT_FOLDER IMAGE...
#include <cstdio>
#include <filesystem>
#include <vector>

#include "vivace/vivace.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s CHECKPOINT_FOLDER IMAGE...\n", argv[0]);
    return 64;
  }
  const auto model = vivace::Model::load(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message.c_str());
    return vivace::exit_status(model.error().code);
  }
  vivace::Session session(*model);
  for (int i = 2; i < argc; ++i) {
    const auto embedding = session.embed_file(argv[i]);
    if (!embedding) {
      std::fprintf(stderr, "%s\n", embedding.error().message.c_str());
      return vivace::exit_status(embedding.error().code);
    }
    std::printf("%s: %lld tokens of width %lld, pooled %.4f %.4f %.4f ...\n", argv[i],
                static_cast<long long>(embedding->token_count),
                static_cast<long long>(embedding->width), embedding->pooled[0],
                embedding->pooled[1], embedding->pooled[2]);
    for (const vivace::StageTime& stage : embedding->stages) {
      std::printf("  %-16.*s %8.3f ms\n", static_cast<int>(stage.stage.size()), stage.stage.data(),
                  static_cast<double>(stage.elapsed_ns) * 1e-6);
    }
  }
  return 0;
}
