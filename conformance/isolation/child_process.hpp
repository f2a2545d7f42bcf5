/// \file
/// A child process that is spoken to by lines: started in a process group of its own, which ends when we do, with limits
/// of time, memory and line length, so that whatever it does is a report and never our end. It knows no protocol.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/isolation/confinement.hpp"
#include "conformance/isolation/process_group.hpp"

namespace etalon::conformance {

/// What a child may use.
struct Limits {
  std::chrono::milliseconds answer{20000};       ///< for one answer, from the moment that the request is sent
  std::chrono::milliseconds start{60000};        ///< for the description, start of the interpreter included
  std::uint64_t memory = std::uint64_t{8} << 30; ///< bytes of private data; 0 is no limit
  std::size_t line = std::size_t{64} << 20;      ///< longest answer
};

/// How an exchange of lines ended.
struct Exchange {
  enum class End : std::uint8_t {
    answered,  ///< `line` is the answer without its end
    ended,     ///< the child ended or closed its output before a whole line was there
    late,      ///< no whole line in time
    endless    ///< a line longer than the limit
  };
  End end = End::answered;
  std::string line;
};

/// A program without a shell, and the room that it gets.
struct Start {
  std::string program;  ///< its path
  std::vector<std::string> words;  ///< its own name, and its arguments
  std::string folder{};  ///< where it runs; empty for where we do
  std::vector<std::string> environment{};  ///< `NAME=value`, and nothing else; empty for ours
  const Confinement* confinement = nullptr;  ///< null for none; confined, no file gets longer than 256 MiB
};

class ChildProcess {
 public:
  /// Starts `command` by the shell. \throws IoError when the system gives no process or pipe.
  explicit ChildProcess(const std::string& command, std::uint64_t memory);
  /// Starts the program, with the standard streams and no other descriptor of ours. One that cannot be started, or
  /// confined, ends with status 127. \throws IoError as the other
  explicit ChildProcess(const Start& start, std::uint64_t memory);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Ends the whole process group at once.
  ~ChildProcess();

  /// Sends the line and waits for one line. After anything but an answer the child is of no further use.
  [[nodiscard]] Exchange ask(const std::string& line, std::chrono::milliseconds limit, std::size_t longest);

  /// `exit status 3`, `killed by signal 11 (Segmentation fault)`, or `still running`; waits a moment for the end.
  [[nodiscard]] std::string fate();

  /// Ends the child's input and waits for its end: what `fate` says then, `still running` when the time is over.
  [[nodiscard]] std::string fate_without_input(std::chrono::milliseconds limit);

  /// The last lines that the child wrote to its standard error since it was asked, at most some hundred bytes.
  [[nodiscard]] std::string last_words() const;

  /// In one line why there was no answer to what was asked with these limits, with the last words of the child.
  [[nodiscard]] std::string no_answer(Exchange::End end, std::chrono::milliseconds limit, std::size_t longest);

  /// Whether something was written that nobody asked for.
  [[nodiscard]] bool has_unasked_output();

 private:
  void launch(const Start& start, std::uint64_t memory);
  void send_some(const std::string& text, std::size_t& sent);
  bool receive_output();
  void receive_errors();

  ProcessGroup group_;
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  bool output_ended_ = false;
  std::string received_;
  std::string log_;
  bool asked_ = false;
};

}  // namespace etalon::conformance
