#include "conformance/isolation/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "spec/error.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kept_log = 8192;
constexpr std::size_t shown_log = 600;
constexpr rlim_t largest_file = rlim_t{256} << 20U;

[[noreturn]] void fail(const char* what) { throw IoError(fmt::format("exec: {}: {}", what, std::strerror(errno))); }

/// A pipe or a pair of sockets that no other child inherits.
struct Pair {
  int ours = -1;
  int theirs = -1;
};

// A socket, so that writing to a dead child is an error here and no signal.
Pair socket_to_child() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("no socket");
  return {ends[0], ends[1]};
}

Pair pipe_from_child() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("no pipe");
  return {ends[0], ends[1]};
}

void do_not_block(int descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

[[nodiscard]] std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// What exec takes, made before the fork.
struct Program {
  std::vector<char*> words, environment;
  const Start& start;
  char** environment_or_ours() { return environment.size() > 1 ? environment.data() : environ; }
};

void enter_room(const Start& start) {
  if (!start.folder.empty() && chdir(start.folder.c_str()) != 0) _exit(127);
  if (start.confinement == nullptr) return;
  const rlimit files{largest_file, largest_file};
  if (setrlimit(RLIMIT_FSIZE, &files) != 0) _exit(127);
  // Descriptors of others who did not mark them.
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0 || !start.confinement->enter()) _exit(127);
}

// Between fork and exec only calls that are safe in a copy of one thread.
[[noreturn]] void become(Program& program, pid_t group, std::uint64_t memory, int input, int output, int errors) {
  // Nobody could end what runs in another group.
  if (setpgid(0, group) != 0) _exit(127);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (memory != 0) {
    const rlimit data{memory, memory};
    setrlimit(RLIMIT_DATA, &data);
  }
  enter_room(program.start);
  execve(program.start.program.c_str(), program.words.data(), program.environment_or_ours());
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::string& command, std::uint64_t memory) { launch({"/bin/sh", {"sh", "-c", command}}, memory); }

ChildProcess::ChildProcess(const Start& start, std::uint64_t memory) { launch(start, memory); }

void ChildProcess::launch(const Start& start, std::uint64_t memory) {
  Program program{pointers_to(start.words), pointers_to(start.environment), start};
  const Pair to = socket_to_child();
  const Pair from = pipe_from_child();
  const Pair log = pipe_from_child();
  pid_ = fork();
  if (pid_ == 0) become(program, group_.id(), memory, to.theirs, from.theirs, log.theirs);
  close(to.theirs);
  // pipe2 gives the reading end first.
  close(from.theirs);
  close(log.theirs);
  input_ = to.ours;
  output_ = from.ours;
  errors_ = log.ours;
  if (pid_ < 0) fail("no process");
  setpgid(pid_, group_.id());
  for (const int descriptor : {input_, output_, errors_}) do_not_block(descriptor);
}

ChildProcess::~ChildProcess() {
  group_.end();
  for (const int descriptor : {input_, output_, errors_}) close(descriptor);
  if (!reaped_) waitpid(pid_, &status_, 0);
}

void ChildProcess::send_some(const std::string& text, std::size_t& sent) {
  const ssize_t n = send(input_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
  if (n > 0) sent += static_cast<std::size_t>(n);
  // A child that closed its input may still answer, or say why on its way out.
  if (n < 0 && errno != EAGAIN && errno != EINTR) sent = text.size();
}

/// Whether there may be more.
bool ChildProcess::receive_output() {
  std::array<char, 65536> buffer{};
  const ssize_t n = read(output_, buffer.data(), buffer.size());
  if (n > 0) received_.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

void ChildProcess::receive_errors() {
  std::array<char, 4096> buffer{};
  ssize_t n = 0;
  // A child that never stops talking must not keep us from looking at the clock.
  for (int times = 0; times < 64 && (n = read(errors_, buffer.data(), buffer.size())) > 0; ++times) {
    log_.append(buffer.data(), static_cast<std::size_t>(n));
    if (log_.size() > 2 * kept_log) log_.erase(0, log_.size() - kept_log);
  }
}

bool ChildProcess::has_unasked_output() {
  pollfd waiting{output_, POLLIN, 0};
  if (received_.empty() && poll(&waiting, 1, 0) > 0 && (waiting.revents & POLLIN) != 0) receive_output();
  return !received_.empty();
}

Exchange ChildProcess::ask(const std::string& line, std::chrono::milliseconds limit, std::size_t longest) {
  const std::string text = line + "\n";
  // What was said about earlier questions says nothing of this one, and hangs on who was asked them.
  if (asked_) {
    receive_errors();
    log_.clear();
  }
  asked_ = true;
  std::size_t sent = 0;
  std::size_t searched = 0;
  const auto deadline = Clock::now() + limit;
  while (true) {
    const auto end = received_.find('\n', searched);
    if (end != std::string::npos && end <= longest) {
      Exchange exchange{Exchange::End::answered, received_.substr(0, end)};
      received_.erase(0, end + 1);
      return exchange;
    }
    if (received_.size() > longest) return {Exchange::End::endless, {}};
    searched = received_.size();
    if (output_ended_) return {Exchange::End::ended, {}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return {Exchange::End::late, {}};
    const auto writing = static_cast<short>(sent < text.size() ? POLLOUT : 0);
    std::array<pollfd, 3> waiting{{{output_, POLLIN, 0}, {errors_, POLLIN, 0}, {writing != 0 ? input_ : -1, writing, 0}}};
    if (poll(waiting.data(), waiting.size(), static_cast<int>(std::min<std::int64_t>(left.count(), 1000))) < 0) continue;
    if ((waiting[2].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) send_some(text, sent);
    if ((waiting[1].revents & POLLIN) != 0) receive_errors();
    if ((waiting[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) output_ended_ = !receive_output();
    // A log that was closed would wake us for ever.
    if ((waiting[1].revents & (POLLHUP | POLLERR | POLLIN)) == POLLHUP) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::string ChildProcess::fate() {
  for (int tries = 0; !reaped_ && tries < 100; ++tries) {
    reaped_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    if (!reaped_) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  receive_errors();
  if (!reaped_) return "still running";
  if (WIFSIGNALED(status_)) return fmt::format("killed by signal {} ({})", WTERMSIG(status_), strsignal(WTERMSIG(status_)));
  const int status = WEXITSTATUS(status_);
  constexpr int signalled = 128;  // so the shell tells of a signal
  if (status <= signalled || status > signalled + SIGRTMAX) return fmt::format("exit status {}", status);
  return fmt::format("exit status {}, which is signal {} ({})", status, status - signalled, strsignal(status - signalled));
}

std::string ChildProcess::fate_without_input(std::chrono::milliseconds limit) {
  shutdown(input_, SHUT_WR);
  const auto deadline = Clock::now() + limit;
  std::string found = fate();
  while (!reaped_ && Clock::now() < deadline) {
    // A child that cannot write cannot end; what it says to nobody needs no more than a trace.
    if (received_.size() < kept_log && !output_ended_) output_ended_ = !receive_output();
    found = fate();
  }
  if (!output_ended_) receive_output();
  return found;
}

std::string ChildProcess::last_words() const {
  std::string words = log_.size() > shown_log ? log_.substr(log_.size() - shown_log) : log_;
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  std::replace(words.begin(), words.end(), '\n', '|');
  for (char& c : words) c = static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) == 127 ? ' ' : c;
  return well_formed(words);
}

std::string ChildProcess::no_answer(Exchange::End end, std::chrono::milliseconds limit, std::size_t longest) {
  if (end == Exchange::End::endless) return fmt::format("an answer of more than {} bytes", longest);
  const std::string text = end == Exchange::End::late ? fmt::format("no answer within {} s", static_cast<double>(limit.count()) / 1000)
                                                      : "ended without an answer: " + fate();
  const std::string words = last_words();
  return words.empty() ? text : fmt::format("{}; its standard error: {}", text, words);
}

}  // namespace etalon::conformance
