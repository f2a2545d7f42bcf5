/// \file
/// The passes between a lowered program and its kernels, as a list that is read top to bottom. Every pass keeps each
/// value bit for bit. It knows nothing of loops, memory or LLVM.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// A rewrite of a system that keeps every output bit for bit.
struct Pass {
  std::string_view name;
  std::string_view what;  ///< one line for `--help` and dumps
  void (*run)(spec::System&);
  bool required = false;  ///< later stages rely on it, so that it cannot be switched off
};

/// All passes in the order in which they run. A name may stand twice; a switch concerns every occurrence.
[[nodiscard]] std::span<const Pass> passes();

/// What a caller may vary. Unknown names are refused with the nearest known one.
struct PipelineOptions {
  std::set<std::string> off;         ///< passes and what follows them (rewrites.hpp) that are left out; `all` means every one that is not required
  std::set<std::string> dump_after;  ///< passes after which `dump` is called; `all` means every pass
  std::function<void(std::string_view pass, const std::string& text)> dump;
  std::function<void(std::string_view pass, double seconds)> timed;  ///< called after each pass, verification not counted
#ifdef NDEBUG
  bool verify = false;
#else
  bool verify = true;  ///< check the system after each pass
#endif
};

/// Runs the passes. What the system's wishes ask to be stored stays a tensor with its equations, what they ask to be inlined
/// becomes none. Afterwards `outputs` are distinct tensors, none of them an input, in the order given.
/// \throws SpecViolation for wishes that exclude each other or cannot be, an unknown pass or one that cannot be switched off; InternalError naming the pass after
/// which the system is ill-formed.
void optimise(spec::System& system, const PipelineOptions& options = {});

}  // namespace etalon::compiled
