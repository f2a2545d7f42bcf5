#include "conformance/isolation/system_calls.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace etalon::conformance {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "system calls: which architecture is this?"
#endif

// The network, other processes' memory, what holds descriptors of others, memory and queues that outlive a process (others' too,
// whose numbers can be guessed), and the system itself.
constexpr std::initializer_list<int> nobodys = {
    SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_ptrace, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_process_madvise, SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_kcmp, SYS_execveat, SYS_mount,
    SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsmount,
    SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget,
    SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_settimeofday,
    SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname, SYS_quotactl, SYS_acct, SYS_syslog,
    SYS_fanotify_init, SYS_vhangup};

// Landlock says nothing of who owns a file and when it was changed.
constexpr std::initializer_list<int> compilers_only = {
    SYS_truncate, SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat,
    SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
#if defined(__x86_64__)
    SYS_fork, SYS_vfork, SYS_creat, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
};

// What changes other processes of the same user, and needs no signal.
constexpr std::initializer_list<int> refused = {SYS_setrlimit,  SYS_setpgid,       SYS_setsid,    SYS_setpriority,
                                                SYS_ioprio_set, SYS_migrate_pages, SYS_move_pages};
constexpr std::initializer_list<int> scheduling = {SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr};
// By these the system sends signals on somebody's behalf, SIGKILL among them.
constexpr std::initializer_list<std::uint32_t> owning_descriptors = {F_SETOWN, F_SETOWN_EX, F_SETSIG,
                                                                     F_NOTIFY, F_SETLEASE};
constexpr std::initializer_list<std::uint32_t> owning_sockets = {FIOSETOWN, SIOCSPGRP};

constexpr std::uint32_t field_number = offsetof(seccomp_data, nr), field_architecture = offsetof(seccomp_data, arch);
// The lower half of an argument, on machines that store it first.
constexpr std::uint32_t low_half(std::size_t argument) { return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * argument); }

constexpr std::uint32_t kill = SECCOMP_RET_KILL_PROCESS, allow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t answer(int error) { return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA); }

class Program {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits); }
  void end(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  /// The next `then` instructions are for what was loaded being equal to `value`.
  void if_equal(std::uint32_t value, std::uint8_t then = 1) { calls_.filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, then, value}); }
  /// Anything else ends the process.
  void require(std::uint32_t value) {
    calls_.filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value});
    end(kill);
  }
  void if_at_least(std::uint32_t value) { calls_.filter.push_back({BPF_JMP | BPF_JGE | BPF_K, 0, 1, value}); }
  void if_own_process() {
    calls_.own_process.push_back(calls_.filter.size());
    if_equal(0);
  }
  void all(std::initializer_list<int> numbers, std::uint32_t action) {
    for (const int number : numbers) {
      if_equal(static_cast<std::uint32_t>(number));
      end(action);
    }
  }
  [[nodiscard]] SystemCalls taken() { return std::move(calls_); }

 private:
  void add(int code, std::uint32_t k) { calls_.filter.push_back({static_cast<std::uint16_t>(code), 0, 0, k}); }
  SystemCalls calls_;
};

/// Refuses the calls whose argument has one of the values.
void refuse_argument(Program& program, int number, std::size_t argument, std::initializer_list<std::uint32_t> values) {
  program.if_equal(static_cast<std::uint32_t>(number), static_cast<std::uint8_t>(2 * values.size() + 2));
  program.load(low_half(argument));
  for (const std::uint32_t value : values) {
    program.if_equal(value);
    program.end(answer(EPERM));
  }
  program.end(allow);
}

/// Of oneself, which is number 0, only.
void refuse_scheduling_others(Program& program) {
  for (const int number : scheduling) {
    program.if_equal(static_cast<std::uint32_t>(number), 4);
    program.load(low_half(0));
    program.if_equal(0);
    program.end(allow);
    program.end(answer(EPERM));
  }
}

/// Memory that the limit of private data does not count: files without a name, shared pages, and stacks that grow.
void refuse_uncounted_memory(Program& program) {
  program.all({SYS_memfd_create}, answer(EPERM));
  program.if_equal(SYS_mmap, 9);
  program.load(low_half(3));
  program.mask(MAP_GROWSDOWN);
  program.if_equal(MAP_GROWSDOWN);
  program.end(answer(ENOMEM));
  program.load(low_half(3));
  program.mask(MAP_SHARED | MAP_ANONYMOUS);
  program.if_equal(MAP_SHARED | MAP_ANONYMOUS);
  program.end(answer(ENOMEM));
  program.end(allow);
}

// Before its third version Landlock lets a file be emptied that may only be read.
void refuse_truncation(Program& program, int number, std::size_t flags) {
  program.if_equal(static_cast<std::uint32_t>(number), 5);
  program.load(low_half(flags));
  program.mask(O_TRUNC);
  program.if_equal(0);
  program.end(allow);
  program.end(answer(EACCES));
}

void forbid_processes(Program& program) {
  program.all(compilers_only, kill);
  refuse_truncation(program, SYS_openat, 2);
#if defined(__x86_64__)
  refuse_truncation(program, SYS_open, 1);
#endif
  program.all({SYS_openat2}, answer(ENOSYS));
  refuse_uncounted_memory(program);
  program.if_equal(SYS_clone, 5);
  program.load(low_half(0));
  program.mask(CLONE_THREAD);
  program.if_equal(CLONE_THREAD);
  program.end(allow);
  program.end(kill);
  program.if_equal(SYS_tgkill, 4);  // abort() is a signal to oneself
  program.load(low_half(0));
  program.if_own_process();
  program.end(allow);
  program.end(kill);
}

}  // namespace

SystemCalls allowed_system_calls(bool processes) {
  Program program;
  program.load(field_architecture);
  program.require(architecture);
  program.load(field_number);
#if defined(__x86_64__)
  program.if_at_least(0x40000000);  // x32
  program.end(kill);
#endif
  program.if_equal(SYS_socket, 4);  // looking up a user's name asks a daemon first, and goes on without it
  program.load(low_half(0));
  program.if_equal(AF_UNIX);
  program.end(answer(EACCES));
  program.end(kill);
  program.all(nobodys, kill);
  program.all(refused, answer(EPERM));
  refuse_argument(program, SYS_fcntl, 1, owning_descriptors);
  refuse_argument(program, SYS_ioctl, 1, owning_sockets);
  refuse_scheduling_others(program);
  program.if_equal(SYS_clone3);  // its flags lie in memory, where no filter sees them; callers fall back to clone
  program.end(answer(ENOSYS));
  program.if_equal(SYS_prlimit64, 6);  // that asks for limits, and sets none
  program.load(low_half(2));
  program.if_equal(0, 3);
  program.load(low_half(2) + 4);
  program.if_equal(0);
  program.end(allow);
  program.end(answer(EPERM));
  if (!processes) forbid_processes(program);
  program.end(allow);
  return program.taken();
}

}  // namespace etalon::conformance
