// Other programs: run to their end, or kept running to talk to.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "core/error.h"
#include "platform/usage.h"

namespace vivace::platform {

/// The program that runs now, by a path that starts it again.
std::string own_program();

/// Runs `words` (the first is the program) with nothing on standard input and standard output
/// thrown away; what it says on standard error is heard. Returns its exit status, or 128 + the
/// signal that ended it. When `stop` becomes true it is sent SIGINT, once, and still waited for.
/// Error: kUnavailable where it cannot be started.
Result<int> run_program(std::span<const std::string> words, const std::atomic<bool>& stop);

struct Finished {
  int status = 0;          ///< exit status, or 128 + the signal that ended it
  Usage usage;             ///< of the program and what it waited for
  std::string last_words;  ///< the end of standard error, in quotes; "" where it succeeded
};

/// Runs a program that says nothing, in a process group of its own. Errors: kUnavailable where it
/// cannot be started; kInterrupted after a signal to us, when the group has been ended.
Result<Finished> run_quietly(std::span<const std::string> words);

/// A program that answers lines with lines, in a process group of its own.
class Conversation {
 public:
  static Result<Conversation> start(std::span<const std::string> words);

  Conversation(Conversation&& other) noexcept;
  Conversation& operator=(Conversation&&) = delete;
  /// Ends the program: its input is closed; what is left of its group after a moment is killed.
  ~Conversation();

  /// Writes a line, and waits for one for at most `timeout_ns`. Errors: kUnavailable when the
  /// program ends, does not answer in time, answers more than 64 KiB, or had written something
  /// before it was asked; kInterrupted after a signal to us.
  Result<std::string> ask(std::string_view line, std::int64_t timeout_ns);
  /// The same without asking first.
  Result<std::string> listen(std::int64_t timeout_ns);
  /// An error if the program says something now, or within a moment: a line too many would be taken
  /// for the answer to the next request, and every later answer for the one after.
  Result<void> expect_silence(int wait_ms);

  /// What the program and its descendants have used so far: some microseconds per thread.
  Usage usage() const;
  /// The end of what it said on standard error, in quotes, or "".
  std::string last_words() const;

 private:
  Conversation(pid_t child, int to_child, int from_child, int errors)
      : child_(child), to_child_(to_child), from_child_(from_child), errors_(errors) {}
  ssize_t receive();
  tl::unexpected<Error> ended();
  tl::unexpected<Error> failed(std::string what) const;

  pid_t child_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  int errors_ = -1;
  std::string received_;  ///< read, not yet returned
};

}  // namespace vivace::platform
