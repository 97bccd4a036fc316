#include "platform/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

namespace vivace::platform {

std::string own_program() { return "/proc/self/exe"; }

Result<int> run_program(std::span<const std::string> words, const std::atomic<bool>& stop) {
  std::vector<std::string> copies(words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int problem = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0) {
    return fail(ErrorCode::kUnavailable, "cannot start " + copies[0] + ": " + errno_text(problem));
  }
  bool told = false;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) {
      return fail(ErrorCode::kInternal, "cannot wait for " + copies[0] + ": " + errno_text(errno));
    }
    if (stop.load(std::memory_order_relaxed) && !told) {
      kill(child, SIGINT);
      told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace vivace::platform
