#include "conformance/isolation/process_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

// A parent death signal would follow the thread that forks, not the process, and would not reach grandchildren.
// A shell, since a mere copy of us would keep our memory and the descriptors of other children.
constexpr const char* waits = "trap '' HUP INT QUIT TERM; read line; kill -s KILL 0";

// Between fork and exec only calls that are safe in a copy of one thread.
[[noreturn]] void lead(int lifeline) {
  setpgid(0, 0);
  dup2(lifeline, STDIN_FILENO);
  // Who reads our output must not wait for the leader.
  close(STDOUT_FILENO);
  close(STDERR_FILENO);
  execl("/bin/sh", "sh", "-c", waits, static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

ProcessGroup::ProcessGroup() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw IoError(fmt::format("exec: no pipe: {}", std::strerror(errno)));
  leader_ = fork();
  if (leader_ == 0) lead(ends[0]);
  const int error = errno;
  close(ends[0]);
  lifeline_ = ends[1];
  if (leader_ < 0) {
    close(lifeline_);
    throw IoError(fmt::format("exec: no process: {}", std::strerror(error)));
  }
  // Here too, since the group must be there before somebody joins it.
  setpgid(leader_, leader_);
}

ProcessGroup::~ProcessGroup() {
  end();
  close(lifeline_);
  waitpid(leader_, nullptr, 0);
}

void ProcessGroup::end() const { kill(-leader_, SIGKILL); }

}  // namespace etalon::conformance
