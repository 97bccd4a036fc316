#include "cli/console.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/flags.h"
#include "platform/clock.h"

namespace vivace::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr std::int64_t kBarEveryNs = 100'000'000;

std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

extern "C" void on_interrupt(int signal_number) {
  // The second one ends the program at once: a run that does not stop can still be stopped.
  if (interrupt_requested.exchange(true)) std::_Exit(128 + signal_number);
}

Result<void> cannot_write() {
  return fail(ErrorCode::kInputOutput, "cannot write to standard output: " + errno_text(errno));
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  return fmt::format("{}m{:02}s", whole / 60, whole % 60);
}

/// A stream that the caller closed would be given to the next file that is opened, and a table
/// would land in it. The place is taken by one on which reading or writing fails.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is the one that is closed.
    (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

void write_error(std::string_view text) {
  (void)!std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

Console::Console() {
  occupy_closed_streams();
  output_is_terminal_ = isatty(STDOUT_FILENO) == 1;
  error_is_terminal_ = isatty(STDERR_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  colour_ = output_is_terminal_ && !dumb && (no_color == nullptr || *no_color == '\0');
  bar_wanted_ = error_is_terminal_ && !dumb;
  // Without SA_RESTART, so that waiting for a pipe that nobody writes to can be ended.
  struct sigaction on_signal{};
  on_signal.sa_handler = on_interrupt;
  sigaction(SIGINT, &on_signal, nullptr);
  sigaction(SIGTERM, &on_signal, nullptr);
  // A closed pipe is an error of the write, reported as such.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that outgrows its limit.
  std::signal(SIGXFSZ, SIG_IGN);
}

void Console::configure(const Arguments& arguments) {
  quiet_ = arguments.enabled("quiet");
  verbose_ = arguments.enabled("verbose");
  if (quiet_ || arguments.enabled("no-progress")) bar_wanted_ = false;
}

Result<void> Console::print(std::string_view text) {
  end_progress();
  VIVACE_CHECK_OK(write(text));
  return std::fflush(stdout) == 0 ? Result<void>() : cannot_write();
}

Result<void> Console::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
  return cannot_write();
}

void Console::warn(std::string_view message) {
  if (quiet_) return;
  end_progress();
  write_error(fmt::format("vivace: warning: {}\n", message));
}

void Console::note(std::string_view message) {
  if (!verbose_) return;
  end_progress();
  write_error(fmt::format("vivace: {}\n", message));
}

void Console::progress(std::string_view what, double share, double left_s) {
  if (!bar_wanted_) return;
  const std::int64_t now = platform::now_ns();
  if (bar_drawn_ && now - bar_drawn_ns_ < kBarEveryNs && share < 1) return;
  bar_drawn_ns_ = now;
  bar_drawn_ = true;
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  const std::string left = left_s < 0 ? std::string() : "  " + clock_text(left_s) + " left";
  write_error(fmt::format(
      "\r\033[K{:<10} [{}{}] {:3.0f}%{}", what, std::string(static_cast<std::size_t>(filled), '#'),
      std::string(static_cast<std::size_t>(kBarWidth - filled), '.'), 100 * share, left));
}

void Console::end_progress() {
  if (!bar_drawn_) return;
  write_error("\r\033[K");
  bar_drawn_ = false;
}

int Console::columns() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

const std::atomic<bool>& Console::interrupted() const { return interrupt_requested; }

}  // namespace vivace::cli
