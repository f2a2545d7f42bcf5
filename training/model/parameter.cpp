#include "training/model/parameter.hpp"

#include "compiled/executable.hpp"
#include "spec/library/library.hpp"
#include "spec/program/trace.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

namespace {

/// The call that makes one parameter's first value.
spec::Traced drawn(spec::Tracer& tracer, const Parameter& parameter, const spec::Traced& seed,
                   const spec::Traced& position) {
  const spec::Definition& definition = spec::definition_named(parameter.initialiser.operation);
  spec::Attributes attributes = parameter.initialiser.attributes;
  attributes["shape"] = std::vector<std::int64_t>(parameter.dims.begin(), parameter.dims.end());
  std::vector<spec::TracedOperand> operands;
  if (definition.operand_count > 0) {
    operands = {seed, position};
    attributes["stream"] = static_cast<std::int64_t>(Stream::initialise);
  }
  return tracer.call(parameter.initialiser.operation, operands, attributes).front();
}

}  // namespace

std::vector<HostTensor> initial_values(std::span<const std::pair<std::string, Parameter>> parameters,
                                       std::uint64_t seed) {
  spec::Tracer tracer;
  const auto scalar = [&](const std::string& name, std::uint64_t value) {
    return tracer.constant(name, HostTensor::of(Dims{}, std::vector<std::int64_t>{static_cast<std::int64_t>(value)}));
  };
  const spec::Traced key = scalar("seed", seed);
  std::uint64_t position = 0;
  for (const auto& [name, parameter] : parameters) {
    const spec::Traced step = scalar("position" + std::to_string(position), position);
    tracer.output(drawn(tracer, parameter, key, step));
    ++position;
  }
  return compiled::compile(tracer.finish()).run(std::span<const HostTensor>{});
}

}  // namespace etalon::training
