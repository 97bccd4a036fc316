#include "platform/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/text.h"
#include "core/units.h"
#include "platform/clock.h"
#include "platform/surroundings.h"

namespace vivace::platform {
namespace {

constexpr std::size_t kLineMax = std::size_t{64} << 10;
constexpr std::size_t kLastWordsMax = 400;
constexpr int kEndWaits = 50;  // of 10 ms each

void close_quietly(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

/// posix_spawn with the streams given; -1 opens /dev/null.
Result<pid_t> spawn(std::span<const std::string> words, int in, int out, int errors) {
  std::vector<std::string> copies(words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const auto place = [&](int from, int to, int mode) {
    if (from >= 0) {
      posix_spawn_file_actions_adddup2(&files, from, to);
    } else {
      posix_spawn_file_actions_addopen(&files, to, "/dev/null", mode, 0);
    }
  };
  place(in, STDIN_FILENO, O_RDONLY);
  place(out, STDOUT_FILENO, O_WRONLY);
  if (errors >= 0) place(errors, STDERR_FILENO, O_WRONLY);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  short flags = POSIX_SPAWN_SETSIGDEF;
  // We ignore these; a program that we start should not.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  if (errors >= 0) {
    // A group of its own, so that all that it starts can be ended with it.
    flags |= POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setpgroup(&attributes, 0);
  }
  posix_spawnattr_setflags(&attributes, flags);
  pid_t child = 0;
  const int problem =
      posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) {
    return fail(ErrorCode::kUnavailable, "cannot start " + copies[0] + ": " + errno_text(problem));
  }
  return child;
}

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/// A file in memory for what a program says on standard error.
int error_file() { return memfd_create("vivace-stderr", MFD_CLOEXEC); }

/// Its last lines, on one.
std::string last_words_of(int file) {
  if (file < 0) return {};
  const off_t size = lseek(file, 0, SEEK_END);
  if (size <= 0) return {};
  const auto length = static_cast<std::size_t>(std::min<off_t>(size, kLastWordsMax));
  std::string text(length, '\0');
  const ssize_t got = pread(file, text.data(), length, size - static_cast<off_t>(length));
  if (got <= 0) return {};
  text.resize(static_cast<std::size_t>(got));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::string line;
  for (const std::string_view piece : split(text, '\n')) {
    if (!line.empty()) line += " / ";
    line += piece;
  }
  // Not more than was read: a text that is too long is cut at its end, which matters most here.
  if (line.size() > kLastWordsMax) line.erase(0, line.size() - kLastWordsMax);
  return quote(line, 2 * kLastWordsMax);
}

Usage usage_of(const rusage& used) {
  const auto ns = [](const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
  };
  return {ns(used.ru_utime) + ns(used.ru_stime), used.ru_nvcsw, used.ru_nivcsw, used.ru_minflt,
          used.ru_majflt};
}

std::string whole_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Adds what one process has used, its descendants, and those of them that have ended: of these the
/// kernel tells the CPU time in ticks of 10 ms, and no switches.
void add_usage(pid_t process, Usage& usage) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, &time) == 0) {
    usage.cpu_ns += std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  const std::string folder = fmt::format("/proc/{}", process);
  // stat: PID (NAME) STATE PPID PGRP SESSION TTY TPGID FLAGS MINFLT CMINFLT MAJFLT CMAJFLT UTIME
  // STIME CUTIME CSTIME ...
  const std::string stat = whole_file(folder + "/stat");
  if (const auto name_end = stat.rfind(')'); name_end != std::string::npos) {
    const auto fields = split(std::string_view(stat).substr(name_end + 1), ' ');
    const auto field = [&](std::size_t place) {
      std::int64_t value = 0;
      if (place < fields.size()) {
        std::from_chars(fields[place].data(), fields[place].data() + fields[place].size(), value);
      }
      return value;
    };
    usage.minor_faults += field(8) + field(9);
    usage.major_faults += field(10) + field(11);
    usage.cpu_ns += (field(14) + field(15)) * 1'000'000'000 / std::max(1L, sysconf(_SC_CLK_TCK));
  }
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator(folder + "/task", ignored)) {
    const std::string status = whole_file(task.path() / "status");
    usage.voluntary_switches += number_after(status, "\nvoluntary_ctxt_switches:\t").value_or(0);
    usage.involuntary_switches +=
        number_after(status, "\nnonvoluntary_ctxt_switches:\t").value_or(0);
    const std::string children = whole_file(task.path() / "children");
    for (const std::string_view piece : split(children, ' ')) {
      pid_t child = 0;
      if (std::from_chars(piece.data(), piece.data() + piece.size(), child).ec == std::errc() &&
          child > 0) {
        add_usage(child, usage);
      }
    }
  }
}

tl::unexpected<Error> interrupted() {
  return fail(ErrorCode::kInterrupted, "interrupted while another program was at work");
}

}  // namespace

std::string own_program() { return "/proc/self/exe"; }

Result<int> run_program(std::span<const std::string> words, const std::atomic<bool>& stop) {
  VIVACE_TRY(const pid_t child, spawn(words, -1, -1, -1));
  bool told = false;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) {
      return fail(ErrorCode::kInternal, "cannot wait for " + words[0] + ": " + errno_text(errno));
    }
    if (stop.load(std::memory_order_relaxed) && !told) {
      kill(child, SIGINT);
      told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return status_of(status);
}

Result<Finished> run_quietly(std::span<const std::string> words) {
  int errors = error_file();
  if (errors < 0) return fail(ErrorCode::kUnavailable, "cannot make a file: " + errno_text(errno));
  auto child = spawn(words, -1, -1, errors);
  if (!child) {
    close_quietly(errors);
    return tl::unexpected(std::move(child).error());
  }
  int status = 0;
  rusage used{};
  pid_t ended = wait4(*child, &status, 0, &used);
  const bool was_interrupted = ended < 0 && errno == EINTR;
  if (was_interrupted) {
    kill(-*child, SIGKILL);
    while (wait4(*child, &status, 0, &used) < 0 && errno == EINTR) {
    }
  }
  Finished finished{.status = status_of(status), .usage = usage_of(used), .last_words = {}};
  if (finished.status != 0) finished.last_words = last_words_of(errors);
  close_quietly(errors);
  if (was_interrupted) return interrupted();
  return finished;
}

Result<Conversation> Conversation::start(std::span<const std::string> words) {
  int to_child[2] = {-1, -1};
  int from_child[2] = {-1, -1};
  int errors = error_file();
  if (errors < 0 || pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0) {
    const int number = errno;
    for (int* end : {&to_child[0], &to_child[1], &from_child[0], &from_child[1], &errors}) {
      close_quietly(*end);
    }
    return fail(ErrorCode::kUnavailable, "cannot make a pipe: " + errno_text(number));
  }
  auto child = spawn(words, to_child[0], from_child[1], errors);
  close_quietly(to_child[0]);
  close_quietly(from_child[1]);
  Conversation conversation(child ? *child : -1, to_child[1], from_child[0], errors);
  if (!child) return tl::unexpected(std::move(child).error());
  return conversation;
}

Conversation::Conversation(Conversation&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      to_child_(std::exchange(other.to_child_, -1)),
      from_child_(std::exchange(other.from_child_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      received_(std::move(other.received_)) {}

Conversation::~Conversation() {
  close_quietly(to_child_);
  close_quietly(from_child_);
  close_quietly(errors_);
  if (child_ <= 0) return;
  int status = 0;
  for (int i = 0; i < kEndWaits; ++i) {
    const pid_t ended = waitpid(child_, &status, WNOHANG);
    if (ended == child_ || (ended < 0 && errno == ECHILD)) {
      kill(-child_, SIGKILL);  // what it may have left behind
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(-child_, SIGKILL);
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
}

tl::unexpected<Error> Conversation::ended() {
  int status = 0;
  std::string how = "closed its output";
  // It may need a moment to end after it has closed its output.
  for (int i = 0; child_ > 0 && i < kEndWaits; ++i) {
    if (waitpid(child_, &status, WNOHANG) == child_) {
      how = fmt::format("ended with exit status {}", status_of(status));
      kill(-child_, SIGKILL);  // what it may have left behind
      child_ = -1;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return failed("the program " + how);
}

tl::unexpected<Error> Conversation::failed(std::string what) const {
  const std::string words = last_words();
  if (!words.empty()) what += ", saying " + words;
  return fail(ErrorCode::kUnavailable, std::move(what));
}

Result<void> Conversation::expect_silence(int wait_ms) {
  pollfd source{.fd = from_child_, .events = POLLIN, .revents = 0};
  if (received_.empty() && poll(&source, 1, wait_ms) > 0 && (source.revents & POLLIN) != 0) {
    (void)receive();
  }
  if (received_.empty()) return {};
  return failed("the program wrote a line that it was not asked for: " + quote(received_));
}

Result<std::string> Conversation::ask(std::string_view line, std::int64_t timeout_ns) {
  VIVACE_CHECK_OK(expect_silence(0));
  std::string text(line);
  text += '\n';
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(to_child_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) return interrupted();
    if (written < 0) return ended();
    done += static_cast<std::size_t>(written);
  }
  return listen(timeout_ns);
}

Result<std::string> Conversation::listen(std::int64_t timeout_ns) {
  const std::int64_t deadline_ns = now_ns() + timeout_ns;
  while (true) {
    if (const auto newline = received_.find('\n'); newline != std::string::npos) {
      std::string line = received_.substr(0, newline);
      received_.erase(0, newline + 1);
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (received_.size() > kLineMax) {
      return failed("the program wrote a line of more than 64 KiB");
    }
    const std::int64_t left_ns = deadline_ns - now_ns();
    if (left_ns <= 0) {
      return failed("the program did not answer within " +
                    format_duration(static_cast<double>(timeout_ns)));
    }
    pollfd source{.fd = from_child_, .events = POLLIN, .revents = 0};
    const int ready = poll(&source, 1, static_cast<int>(left_ns / 1'000'000) + 1);
    if (ready < 0 && errno == EINTR) return interrupted();
    if (ready <= 0) continue;
    const ssize_t got = receive();
    if (got < 0 && errno == EINTR) return interrupted();
    if (got <= 0) return ended();
  }
}

ssize_t Conversation::receive() {
  char buffer[4096];
  const ssize_t got = read(from_child_, buffer, sizeof buffer);
  if (got > 0) received_.append(buffer, static_cast<std::size_t>(got));
  return got;
}

Usage Conversation::usage() const {
  Usage usage;
  if (child_ > 0) add_usage(child_, usage);
  return usage;
}

std::string Conversation::last_words() const { return last_words_of(errors_); }

}  // namespace vivace::platform
