/// \file
/// Which system calls a confined process may make, as a program of seccomp: a process that makes another one ends at
/// once. It knows no files; those are Landlock's.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <vector>

namespace etalon::conformance {

/// The filter, and where in it the process's own number stands, which is known after the fork.
struct SystemCalls {
  std::vector<sock_filter> filter;
  std::vector<std::size_t> own_process;  ///< places of the constants that are to be the process's number
};

/// No sockets, no look into other processes, no change of the system; raising a limit, and leaving the process group,
/// are refused, and so are others' priorities and processors, and descriptors whose owner is sent signals. Unless
/// `processes`, also no other process (threads are allowed), no signal to others, no change of whose files are, and no
/// memory that RLIMIT_DATA does not count.
[[nodiscard]] SystemCalls allowed_system_calls(bool processes);

}  // namespace etalon::conformance
