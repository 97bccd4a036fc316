// What is left of the processes that a test has started.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace vivace::test {

/// True when no child of this process is left, not even one that ended and was not waited for.
inline bool no_child_is_left() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

/// True when the process has ended, or does within some seconds. A zombie that another process has
/// to wait for has ended.
inline bool has_ended(pid_t process) {
  for (int i = 0; i < 500; ++i) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    if (!std::getline(stat, text)) return true;
    const auto name_end = text.rfind(')');
    if (name_end != std::string::npos && text.compare(name_end, 3, ") Z") == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// The number in a file, once there is one; 0 when none comes.
inline pid_t number_in(const std::string& path) {
  for (int i = 0; i < 500; ++i) {
    std::ifstream file(path);
    pid_t number = 0;
    if (file >> number && file.get() == '\n') return number;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

/// As long as it lives, this thread gets a signal every 50 ms, as by Ctrl-C: its system calls are
/// interrupted.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    sigaction(SIGUSR1, &action, &before_);
    sender_ = std::thread([this, target = pthread_self()] {
      while (!stop_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        pthread_kill(target, SIGUSR1);
      }
    });
  }
  ~Interruptions() {
    stop_ = true;
    sender_.join();
    sigaction(SIGUSR1, &before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

 private:
  struct sigaction before_{};
  std::atomic<bool> stop_{false};
  std::thread sender_;
};

}  // namespace vivace::test
