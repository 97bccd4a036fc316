// On a terminal there is a bar with the time left on standard error and colour on standard output;
// with NO_COLOR, a dumb terminal or --no-progress there is not.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/vivace_program.h"

namespace vivace::test {
namespace {

struct TerminalResult {
  int status = -1;
  std::string screen;  // what both streams wrote
};

/// Runs the program with a terminal of so many columns as all its streams.
TerminalResult vivace_on_terminal(Words words, unsigned short columns, const char* variable = "",
                                  const char* value = "") {
  words.insert(words.begin(), program());
  std::vector<char*> pointers = run_program_internal::pointers(words);
  winsize size{};
  size.ws_row = 50;
  size.ws_col = columns;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    if (*variable != '\0') setenv(variable, value, 1);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  TerminalResult result;
  char buffer[4096];
  // The read fails once the child has gone.
  for (ssize_t count = 0; (count = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    result.screen.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

class Terminal : public ProgramTest {
 protected:
  void SetUp() override {
    int controller = -1;
    int terminal = -1;
    if (openpty(&controller, &terminal, nullptr, nullptr, nullptr) != 0) {
      GTEST_SKIP() << "no pseudo-terminal is to be had here (is /dev/pts mounted?)";
    }
    ::close(controller);
    ::close(terminal);
  }

  Words measure() const {
    return {"measure",    "--model", model(), "synthetic:40x40", "--samples", "10M",
            "--duration", "600ms",   "-j1"};
  }
};

constexpr const char* kColour = "\x1b[1m";
constexpr const char* kErase = "\r\x1b[K";

TEST_F(Terminal, ShowsABarWithTheTimeLeftAndColour) {
  const TerminalResult result = vivace_on_terminal(measure(), 100);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.screen, testing::ContainsRegex("sampling +\\[[#.]{30}\\] +[0-9]+%"));
  EXPECT_THAT(result.screen, testing::HasSubstr("s left"));
  EXPECT_THAT(result.screen, testing::HasSubstr(kColour));
  // The bar is gone before the table begins.
  const std::size_t table = result.screen.rfind("LATENCY");
  ASSERT_NE(table, std::string::npos);
  EXPECT_EQ(result.screen.find('#', table), std::string::npos);
  EXPECT_LT(result.screen.rfind(kErase), table);
}

TEST_F(Terminal, ColourAndBarCanBeTurnedOff) {
  EXPECT_EQ(vivace_on_terminal(measure(), 80, "NO_COLOR", "1").screen.find(kColour),
            std::string::npos);
  EXPECT_NE(vivace_on_terminal(measure(), 80, "NO_COLOR", "").screen.find(kColour),
            std::string::npos);
  for (const char* flag : {"--no-progress", "--quiet"}) {
    const TerminalResult result = vivace_on_terminal(measure() + Words{flag}, 80);
    EXPECT_EQ(result.screen.find(kErase), std::string::npos) << flag;
    EXPECT_NE(result.screen.find(kColour), std::string::npos) << flag;
  }
  EXPECT_EQ(vivace_on_terminal(measure(), 80, "TERM", "dumb").screen.find('\x1b'),
            std::string::npos);
}

TEST_F(Terminal, TakesNoBinaryNumbers) {
  const TerminalResult result =
      vivace_on_terminal({"embed", "--model", model(), "synthetic", "-o", "-"}, 80);
  EXPECT_EQ(result.status, 64);
  EXPECT_THAT(result.screen, testing::HasSubstr("got a terminal"));
}

}  // namespace
}  // namespace vivace::test
