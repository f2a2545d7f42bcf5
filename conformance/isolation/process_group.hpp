/// \file
/// A process group that ends when we end, however that is: by a signal that nobody can catch too. It does not know what
/// runs in the group.
#pragma once

#include <sys/types.h>

namespace etalon::conformance {

class ProcessGroup {
 public:
  /// A group of one process, which waits for our end. \throws IoError when the system gives no process or pipe.
  ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ~ProcessGroup();

  /// What setpgid and kill take; no other group has it while this object lives.
  [[nodiscard]] pid_t id() const { return leader_; }

  /// Ends all processes of the group at once. Those that are our children are still to be waited for.
  void end() const;

 private:
  pid_t leader_ = -1;
  int lifeline_ = -1;  ///< of a pipe whose other end the leader reads; only our end closes it
};

}  // namespace etalon::conformance
