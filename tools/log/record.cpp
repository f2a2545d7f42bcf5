#include "tools/log/record.hpp"

#include <optional>
#include <utility>

#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "reference/number.hpp"
#include "spec/error.hpp"
#include "spec/program/binding.hpp"
#include "tools/log/segment.hpp"

namespace etalon::logging {

using spec::System;
using spec::TensorId;

std::vector<HostTensor> run_on_reference(const System& system, std::span<const HostTensor> inputs) {
  using Number = reference::Real50;
  std::vector<std::optional<HostTensor>> values(system.tensors.size());
  std::vector<bool> held(system.tensors.size());
  for (std::size_t i = 0; i < system.inputs.size(); ++i) values[static_cast<std::size_t>(system.inputs[i])] = inputs[i];
  for (const TensorId t : system.outputs) held[static_cast<std::size_t>(t)] = true;
  for (const Segment& segment : segments(system, held)) {
    std::vector<reference::Array<Number>> sources;
    for (const TensorId t : segment.sources) sources.push_back(reference::from_host<Number>(*values[static_cast<std::size_t>(t)]));
    const auto found = reference::evaluate<Number>(with_shared_reductions(segment.system), sources);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const TensorId t = segment.targets[i];
      values[static_cast<std::size_t>(t)] = reference::to_host(found[i], system[t].dtype);
    }
  }
  std::vector<HostTensor> outputs;
  for (const TensorId t : system.outputs) outputs.push_back(values[static_cast<std::size_t>(t)].value());
  return outputs;
}

Log record(const spec::Program& program, const std::string& file, std::vector<HostTensor> inputs,
           const std::vector<std::string>& names, const Recorder& recorder) {
  Log log;
  log.file = file;
  log.backend = recorder.backend;
  log.contract = recorder.contract;
  log.meaning = meaning_of(program);
  verify_inputs(log.meaning.program, inputs);
  log.inputs = std::move(inputs);
  const std::vector<TensorId> wanted = selected(log.meaning.system, names);
  if (wanted.empty()) throw SpecViolation(file + ": there is nothing to log: the program computes nothing");
  System system = log.meaning.system;
  system.outputs = wanted;
  system.wishes.clear();  // what is logged is in memory, whatever the program asks
  std::vector<HostTensor> found = recorder.run(system, log.inputs);
  if (found.size() != wanted.size()) throw InternalError("record: as many values as were asked for are expected");
  log.values.resize(system.tensors.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) log.values[static_cast<std::size_t>(wanted[i])] = std::move(found[i]);
  return log;
}

}  // namespace etalon::logging
