// Runs a program as a user does: arguments, standard input, environment and working folder in;
// exit status and both outputs back. A program that hangs is killed, and the result says so.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;

namespace vivace::test {

struct ProgramOptions {
  std::string input;                     ///< its standard input
  std::vector<std::string> environment;  ///< "NAME=VALUE", in place of or beside our own
  std::filesystem::path folder;          ///< its working folder; ours where empty
  int timeout_s = 300;
  enum class Output { kCaptured, kBrokenPipe, kClosed, kFull } output = Output::kCaptured;
  std::string interrupt_after;  ///< SIGINT once this text stands on its standard error
  int interrupt_delay_ms = 300;
};

struct ProgramResult {
  int status = -1;  ///< exit status, or 128 + the signal that ended it
  bool timed_out = false;
  std::string out;
  std::string err;
};

namespace run_program_internal {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    read_end = ends[0];
    write_end = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

/// Appends what there is; closes the end at its end.
inline void drain(int& end, std::string& to) {
  char buffer[1 << 16];
  const ssize_t count = ::read(end, buffer, sizeof buffer);
  if (count > 0) {
    to.append(buffer, static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    Pipe::close_end(end);
  }
}

inline std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& change : changes) replaced = replaced || change.starts_with(name);
    if (!replaced) all.push_back(text);
  }
  return all;
}

inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

inline void set_output(posix_spawn_file_actions_t& actions, ProgramOptions::Output kind,
                       Pipe& out) {
  if (kind == ProgramOptions::Output::kClosed) {
    posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO);
  } else if (kind == ProgramOptions::Output::kFull) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/full", O_WRONLY, 0);
  } else {
    if (kind == ProgramOptions::Output::kBrokenPipe) Pipe::close_end(out.read_end);
    posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  }
}

inline pid_t start(const std::string& program, std::vector<std::string> words,
                   const ProgramOptions& options, Pipe& in, Pipe& out, Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read_end, STDIN_FILENO);
  set_output(actions, options.output, out);
  posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  if (!options.folder.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  }
  // A shell's child has the default dispositions, whatever the tests have.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  words.insert(words.begin(), program);
  std::vector<std::string> environment = merged_environment(options.environment);
  pid_t child = -1;
  const int failure = posix_spawn(&child, program.c_str(), &actions, &attributes,
                                  pointers(words).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw std::runtime_error(program + ": " + std::strerror(failure));
  return child;
}

}  // namespace run_program_internal

inline ProgramResult run_program(const std::string& program, const std::vector<std::string>& words,
                                 const ProgramOptions& options = {}) {
  using namespace run_program_internal;
  using Clock = std::chrono::steady_clock;
  signal(SIGPIPE, SIG_IGN);  // of our own writes to a child that reads nothing
  Pipe in;
  Pipe out;
  Pipe err;
  const pid_t child = start(program, words, options, in, out, err);
  Pipe::close_end(in.read_end);
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  fcntl(in.write_end, F_SETFL, O_NONBLOCK);
  ProgramResult result;
  std::size_t written = 0;
  bool interrupt = !options.interrupt_after.empty();
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(options.timeout_s);
  while (out.read_end >= 0 || err.read_end >= 0) {
    if (written == options.input.size()) Pipe::close_end(in.write_end);
    pollfd ends[3] = {
        {in.write_end, POLLOUT, 0}, {out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}};
    poll(ends, 3, 100);
    if (ends[0].revents != 0) {
      const ssize_t count =
          ::write(in.write_end, options.input.data() + written, options.input.size() - written);
      if (count > 0) written += static_cast<std::size_t>(count);
      if (count < 0 && errno != EAGAIN && errno != EINTR) written = options.input.size();
    }
    if (ends[1].revents != 0) drain(out.read_end, result.out);
    if (ends[2].revents != 0) drain(err.read_end, result.err);
    if (interrupt && result.err.find(options.interrupt_after) != std::string::npos) {
      interrupt = false;
      usleep(static_cast<useconds_t>(options.interrupt_delay_ms) * 1000);
      kill(child, SIGINT);
    }
    if (!result.timed_out && Clock::now() > deadline) {
      result.timed_out = true;
      kill(child, SIGKILL);
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace vivace::test
