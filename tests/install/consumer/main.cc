// Calls into the installed library; a missing symbol or header fails the build.
#include <cstdio>

#include <vivace/result.h>

int main() {
  const vivace::Result<int> missing =
      tl::unexpected(vivace::Error{vivace::ErrorCode::kMissingInput, "no such file"});
  std::printf("%s exits with %d\n", vivace::name_of(missing.error().code).data(),
              vivace::exit_status(missing.error().code));
  return missing.has_value() ? 1 : 0;
}
