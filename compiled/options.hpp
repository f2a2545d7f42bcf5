/// \file
/// What a caller of the compiler may vary. The stages and choices that can be left out, by name, stand in compile.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiled/emit/debug_files.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/ir/schedule.hpp"
#include "compiled/lower/given.hpp"
#include "compiled/machine/thresholds.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

class Device;

struct CompileOptions {
  unsigned threads = 1;                                    ///< of the process's pool of so many, which programs share; the results do not depend on it
  double least_shared_work = threshold<double>("least_shared_work");  ///< scalar operations; a kernel of fewer runs on one thread
  std::set<std::string> off;                               ///< stages and choices that are left out; `all` means every one that is not required
  std::set<std::string> dump_after;                        ///< stages, or levels as they are in the end, that `dump` gets; `all` means every stage
  std::function<void(std::string_view name, const std::string& text)> dump;
#ifdef NDEBUG
  bool verify = false;
#else
  bool verify = true;                                      ///< check what each stage leaves; loops are always checked
#endif
  PlanOptions plan;                                        ///< its updates are filled in from the program
  ScheduleOptions schedule;
  std::vector<DecisionLine> decisions;                     ///< that are given; of the others the cost model decides
  std::optional<loops::GivenLoops> loops;                  ///< kernels that are given take the place of those that are lowered (docs/schedules.md); they are not known to be right
  std::function<void(std::string_view stage, spec::System&)> interpose;  ///< called on what each stage of equations leaves
  bool explain = false;                                    ///< the report says what became of each value, and why
  std::shared_ptr<Device> device;                          ///< what programs are made for and run on; null: the processor. Share one between many small programs: faster
  DebugFiles debug = DebugFiles::from_environment();       ///< gets the loops as loops.txt, whose lines machine code then names for gdb and perf
  std::filesystem::path cache;                             ///< a folder that keeps code between processes, unless `device` is given
};

}  // namespace etalon::compiled
