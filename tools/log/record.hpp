/// \file
/// Makes a log: asks a backend for the values of a program's equations. A backend is a function here; it knows no format.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spec/contract/contract.hpp"
#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"
#include "tools/log/log.hpp"

namespace etalon::logging {

/// Values of a system's outputs for its inputs. An output is a number of its element type from where it is computed on:
/// whatever reads it reads what is answered.
using Runner = std::function<std::vector<HostTensor>(const spec::System&, std::span<const HostTensor>)>;

/// Who computes, and what is promised of it.
struct Recorder {
  std::string backend;
  spec::Contract contract;
  Runner run;
};

/// The values by the meaning of the equations: what stands between outputs is exact, each output is rounded once.
[[nodiscard]] std::vector<HostTensor> run_on_reference(const spec::System& system, std::span<const HostTensor> inputs);

/// \param file names the program in messages. \param names of the values to log; none means all.
/// \throws SpecViolation for an ill-typed program, inputs that do not fit it, or an unknown name; what `recorder.run` throws.
[[nodiscard]] Log record(const spec::Program& program, const std::string& file, std::vector<HostTensor> inputs,
                         const std::vector<std::string>& names, const Recorder& recorder);

}  // namespace etalon::logging
