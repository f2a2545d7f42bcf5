/// \file
/// One piece of work that competitors do side by side: a program over the library's operations, what goes in, and the
/// recipe by which other systems know it. It knows no competitor and measures nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/program/trace.hpp"

namespace etalon::bench {

/// What stands in an input at first. Everything drawn is a function of (seed, workload, position) alone.
enum class Values : std::uint8_t {
  uniform,  ///< reals between low and high
  classes,  ///< i64 from low to high, both included
  signs,    ///< -1 or 1
  zeros     ///< state that every competitor makes for itself; it is not handed out
};

struct InputSpec {
  std::string name;
  Dims dims;
  double low = -1;
  double high = 1;
  Values values = Values::uniform;
  bool is_state = false;     ///< a parameter or optimizer state: it stays between runs
  DType dtype = DType::f32;  ///< f32 stands for the element type that a program is made for
};

/// What is measured.
enum class Quantity : std::uint8_t {
  run,        ///< seconds of one run, warm
  first_call  ///< seconds from a program to its first results in a fresh process, and its peak memory
};

struct Workload {
  std::string name;
  std::string group;
  std::string what;  ///< one line
  Quantity quantity = Quantity::run;
  bool keeps_code = false;  ///< an earlier process has had its first results: what it kept on disk is there
  std::string recipe;  ///< by this name and `sizes` a peer knows what to do
  std::map<std::string, std::int64_t> sizes;
  std::vector<InputSpec> inputs;
  std::function<void(Tracer&, const std::vector<Traced>&)> body;  ///< gets the inputs in order
  std::vector<std::string> compared_state;  ///< state whose value after one run is compared, behind the outputs
  double flops = 0;                         ///< of one run, where that says something
  double size = 0;                          ///< what its group varies, as the number of calls; 0 where it varies nothing
  double copied_bytes = 0;                  ///< a copy of so many bytes is a limit; 0 where none is meant
};

/// The workload's program with reals of that element type.
[[nodiscard]] spec::Program program_of(const Workload& workload, DType real);

/// Bytes that no way of doing it gets around: each input but constants read once, each output written once, and each parameter that is updated once more.
[[nodiscard]] double least_bytes(const spec::Program& program);

/// The first values of the inputs in order, reals as f32.
[[nodiscard]] std::vector<HostTensor> drawn_inputs(const Workload& workload, std::uint64_t seed);

/// Every workload in the order in which a run takes them.
[[nodiscard]] std::vector<Workload> all_workloads();

/// Those of a size that is right for a GPU: minutes of a processor. They stand beside the others.
[[nodiscard]] std::vector<Workload> large_workloads();

/// What a device is asked: the large ones, then all others that are run warm.
[[nodiscard]] std::vector<Workload> device_workloads();

/// Those of `etalon bench scale`: groups that vary one size each, in order of it. They stand beside the others.
[[nodiscard]] std::vector<Workload> scale_workloads();

/// Those of `all` that the words name, by their own name or by their group's; all of them without words.
/// \throws SpecViolation with the nearest name
[[nodiscard]] std::vector<Workload> workloads_named(const std::vector<std::string>& words,
                                                    const std::vector<Workload>& all = all_workloads());

/// Of all workloads, the large ones and those of scale included. \throws SpecViolation with the nearest name
[[nodiscard]] Workload workload_named(const std::string& name);

}  // namespace etalon::bench
