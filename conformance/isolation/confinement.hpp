/// \file
/// What a process may reach that runs a stranger's code: files that it is given and no others (Landlock), no network,
/// no other process (seccomp). It does not know what runs, and starts nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/isolation/system_calls.hpp"

namespace etalon::conformance {

/// A file, or a folder with all that is in it.
struct Reach {
  enum class For : std::uint8_t {
    names,    ///< what is there, not what it says
    reading,  ///< and to be mapped as a library
    running,  ///< and to be started
    writing   ///< and to be made and removed in
  };
  std::string path;  ///< what is not there is no error
  For use = For::reading;
};

/// A confinement that processes enter before they run; as many as one likes.
class Confinement {
 public:
  /// \param processes whether further processes may be started, which are confined alike
  /// \throws Unsupported where this system cannot confine: says which part of it is missing
  Confinement(const std::vector<Reach>& files, bool processes);
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;
  ~Confinement();

  /// Enters it, for good, with all that this process starts. Only calls that are safe between fork and exec.
  /// \returns whether all of it holds; if not, nothing may be run
  [[nodiscard]] bool enter() const noexcept;

 private:
  void allow(const Reach& reach) const;

  SystemCalls calls_;
  std::uint64_t handled_ = 0;  ///< Landlock's rights that are refused where no rule gives them
  int rules_ = -1;
};

}  // namespace etalon::conformance
