// Embeds a grey picture with the installed library: what links and runs here, runs for a user.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <vivace/vivace.h>

namespace {

int report(const vivace::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return vivace::exit_status(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const auto missing = vivace::Model::load("no/such/folder");
  if (missing || missing.error().code != vivace::ErrorCode::kMissingInput) return 70;

  const auto model = vivace::Model::load(argv[1]);
  if (!model) return report(model.error());
  vivace::Session session(*model, {.threads = 1});
  const std::vector<std::uint8_t> grey(64 * 48 * 3, 128);
  const auto embedding = session.embed_rgb(grey, 1, {.height = 48, .width = 64});
  if (!embedding) return report(embedding.error());
  for (const float value : embedding->pooled) {
    if (!std::isfinite(value)) return 70;
  }
  std::printf("vivace %s: %lld tokens of width %lld\n", vivace::version().c_str(),
              static_cast<long long>(embedding->token_count),
              static_cast<long long>(embedding->width));
  return embedding->token_count == model->info().tokens ? 0 : 70;
}
