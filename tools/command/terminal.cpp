#include "tools/command/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <new>

namespace etalon::command {
namespace {

// A handler may neither allocate nor lock: it finds its line here.
struct LastWords {
  std::array<char, 1024> text{};
  std::size_t size = 0;
};

LastWords& last_words() {
  static LastWords words;
  return words;
}

extern "C" void say_and_end(int signal) {
  const LastWords& words = last_words();
  (void)!write(STDERR_FILENO, words.text.data(), words.size);
  (void)std::signal(signal, SIG_DFL);
  (void)raise(signal);
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::optional<std::size_t> output_columns() {
  if (isatty(STDOUT_FILENO) == 0) return std::nullopt;
  return terminal_columns(STDOUT_FILENO);
}

int say_what_is_wrong(const std::exception& error) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  std::cerr << (is_memory ? "there is not enough memory for this" : error.what()) << std::endl;
  return 2;
}

void say_when_interrupted(const std::string& line) {
  LastWords& words = last_words();
  const std::string text = "\n" + line + "\n";
  words.size = std::min(text.size(), words.text.size());
  std::copy_n(text.begin(), words.size, words.text.begin());
  (void)std::signal(SIGINT, say_and_end);
}

}  // namespace etalon::command
