#include "conformance/isolation/confinement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

constexpr std::uint64_t first_version = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;
// Newer than Debian's header.
constexpr std::uint64_t truncation = std::uint64_t{1} << 14U, device_controls = std::uint64_t{1} << 15U;
constexpr long version_of_moves = 2, version_of_truncation = 3, version_of_device_controls = 5;
constexpr std::uint64_t of_files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | truncation;
constexpr std::size_t most_instructions = 512;

[[noreturn]] void fail(const std::string& what) { throw Unsupported(fmt::format("confinement: {}: {}", what, std::strerror(errno))); }

[[nodiscard]] std::uint64_t rights_of(long version) {
  std::uint64_t rights = first_version;
  if (version >= version_of_moves) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= version_of_truncation) rights |= truncation;
  if (version >= version_of_device_controls) rights |= device_controls;
  return rights;
}

[[nodiscard]] std::uint64_t rights_for(Reach::For use) {
  const std::uint64_t names = LANDLOCK_ACCESS_FS_READ_DIR, reading = names | LANDLOCK_ACCESS_FS_READ_FILE;
  switch (use) {
    case Reach::For::names:
      return names;
    case Reach::For::reading:
      return reading;
    case Reach::For::running:
      return reading | LANDLOCK_ACCESS_FS_EXECUTE;
    case Reach::For::writing:
      return reading | LANDLOCK_ACCESS_FS_WRITE_FILE | truncation | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE |
             LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR;
  }
  return 0;
}

}  // namespace

Confinement::Confinement(const std::vector<Reach>& files, bool processes) : calls_(allowed_system_calls(processes)) {
  if (calls_.filter.size() > most_instructions) throw InternalError("confinement: the filter is too long");
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0) fail("this system has no Landlock, which keeps files from kernels");
  if (prctl(PR_GET_SECCOMP) < 0) fail("this system has no seccomp, which keeps the network from kernels");
  handled_ = rights_of(version);
  const landlock_ruleset_attr attributes{handled_};
  rules_ = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  if (rules_ < 0) fail("no rules of Landlock");
  for (const Reach& reach : files) allow(reach);
}

Confinement::~Confinement() { close(rules_); }

void Confinement::allow(const Reach& reach) const {
  const int opened = open(reach.path.c_str(), O_PATH | O_CLOEXEC);
  if (opened < 0) return;
  struct stat found {};
  const bool folder = fstat(opened, &found) == 0 && S_ISDIR(found.st_mode);
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights_for(reach.use) & handled_ & (folder ? ~std::uint64_t{0} : of_files);
  rule.parent_fd = opened;
  const bool added = rule.allowed_access == 0 || syscall(SYS_landlock_add_rule, rules_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  const int error = errno;
  close(opened);
  errno = error;
  if (!added) fail("no rule for " + reach.path);
}

bool Confinement::enter() const noexcept {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  // An administrator's process is one without an administrator's powers, whatever it starts.
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> none{};
  if (syscall(SYS_capset, &header, none.data()) != 0) return false;
  if (syscall(SYS_landlock_restrict_self, rules_, 0) != 0) return false;
  std::array<sock_filter, most_instructions> filter{};
  for (std::size_t i = 0; i < calls_.filter.size(); ++i) filter[i] = calls_.filter[i];
  const auto self = static_cast<std::uint32_t>(getpid());
  for (const std::size_t place : calls_.own_process) filter[place].k = self;
  const sock_fprog program{static_cast<unsigned short>(calls_.filter.size()), filter.data()};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

}  // namespace etalon::conformance
