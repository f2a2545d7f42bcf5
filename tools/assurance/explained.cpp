#include "tools/assurance/explained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"
#include "spec/value_type.hpp"
#include "tools/assurance/fault_line.hpp"
#include "tools/log/judge.hpp"
#include "training/files/safetensors.hpp"
#include "training/outcome.hpp"
#include "training/step.hpp"

namespace etalon::assurance {
namespace {

using training::Named;

spec::Program program_of(const training::Declaration& declaration) {
  if (declaration.grain != declaration.batch) {
    throw SpecViolation(fmt::format("explained: a batch of {} rows in leaves of {}, expected steps of one leaf", declaration.batch,
                                    declaration.grain));
  }
  return spec::parse_program(declaration.program);
}

/// The tensors of a file. \param digest is filled in with the SHA-256 of its bytes
Named tensors_in(const std::filesystem::path& file, std::string* digest = nullptr) {
  const std::string bytes = read_file(file);
  if (digest != nullptr) *digest = sha256_of(bytes);
  return training::read_safetensors(std::as_bytes(std::span(bytes)), file.string());
}

const HostTensor& found_in(const Named& tensors, const std::string& name, const DType dtype, const Dims& dims, const std::string& file) {
  const auto at = tensors.find(name);
  if (at == tensors.end()) throw IoError(fmt::format("{}: `{}` is missing", file, name));
  const spec::ValueType want{dtype, dims}, got{at->second.dtype, at->second.dims};
  if (!(want == got)) throw IoError(fmt::format("{}: `{}` is {}, expected {}", file, name, to_string(got), to_string(want)));
  return at->second;
}

/// The values that the program names: without them a step would be one assignment with the bounds of all.
std::set<std::string> named_by(const spec::Program& program) {
  std::set<std::string> names(program.outputs.begin(), program.outputs.end());
  for (const auto& step : program.steps) {
    if (const auto* call = std::get_if<spec::Call>(&step)) names.insert(call->results.begin(), call->results.end());
    if (const auto* derivative = std::get_if<spec::Differentiate>(&step)) {
      names.insert(derivative->results.begin(), derivative->results.end());
    }
  }
  return names;
}

/// A log of what the trace says: every tensor of it that equations define.
void fill(logging::Log& log, const Named& trace, const std::set<std::string>& needed, const std::string& file) {
  const spec::System& system = log.meaning.system;
  log.values.resize(system.tensors.size());
  std::set<std::string> known;
  for (const spec::TensorId t : logging::selected(system, {})) {
    const spec::TensorInfo& info = system[t];
    known.insert(info.name);
    if (!trace.contains(info.name) && !needed.contains(info.name)) continue;
    log.values[static_cast<std::size_t>(t)] = found_in(trace, info.name, info.dtype, info.dims, file);
  }
  for (const auto& [name, value] : trace) {
    if (!known.contains(name)) throw IoError(fmt::format("{}: `{}` is no value that the program computes", file, name));
  }
}

double loss_of(const logging::Log& step) {
  const std::vector<std::string>& names = step.meaning.program.outputs;
  const auto at = std::find(names.begin(), names.end(), training::names::loss);
  if (at == names.end()) throw SpecViolation(fmt::format("explained: the step has no output `{}`", training::names::loss));
  const HostTensor* loss = step.value(step.meaning.system.outputs[static_cast<std::size_t>(at - names.begin())]);
  return training::number_in(*loss, training::names::loss);
}

}  // namespace

Explanation::Explanation(const training::Declaration& declaration, std::filesystem::path trace, const spec::Contract& contract)
    : program_(program_of(declaration)), trace_(std::move(trace)), contract_(contract), start_(declaration.start) {
  std::string digest;
  data_ = tensors_in(trace_ / "data.safetensors", &digest);
  if (digest != declaration.data) {
    throw SpecViolation(fmt::format("{}: its SHA-256 is {}, the run's data has {}", (trace_ / "data.safetensors").string(), digest,
                                    declaration.data));
  }
}

/// Indices count steps, the last one fastest.
std::vector<HostTensor> Explanation::inputs_of(std::int64_t number, const Named& state) const {
  std::vector<HostTensor> inputs(program_.inputs.size());
  auto rest = static_cast<std::uint64_t>(number - 1);
  for (std::size_t i = inputs.size(); i-- > 0;) {
    const spec::Input& input = program_.inputs[i];
    const bool kept = input.role == spec::Role::parameter;
    if (input.role == spec::Role::index) {
      const auto low = static_cast<std::uint64_t>(input.range->first), last = static_cast<std::uint64_t>(input.range->second) - low;
      const bool all = last == std::numeric_limits<std::uint64_t>::max();
      inputs[i] = HostTensor::of<std::int64_t>({}, {static_cast<std::int64_t>(low + (all ? rest : rest % (last + 1)))});
      rest = all ? 0 : rest / (last + 1);
    } else if (input.value) {
      inputs[i] = *input.value;
    } else {
      inputs[i] = found_in(kept ? state : data_, input.name, input.dtype, input.dims, (trace_ / (kept ? "state" : "data")).string());
    }
  }
  if (rest != 0) throw SpecViolation(fmt::format("{}: step {} is beyond what the program's indices count", trace_.string(), number));
  return inputs;
}

logging::Log Explanation::log_of(std::int64_t number, const Named& state) const {
  const std::string file = (trace_ / fmt::format("step-{}.safetensors", number)).string();
  logging::Log log;
  log.file = file;
  log.backend = "trace";
  log.contract = contract_;
  log.meaning = logging::meaning_of(program_);
  log.inputs = inputs_of(number, state);
  fill(log, tensors_in(file), named_by(log.meaning.program), file);
  return log;
}

Named Explanation::state_after(std::int64_t number, std::string& digest) const {
  return tensors_in(trace_ / fmt::format("state-{}.safetensors", number), &digest);
}

void Explanation::advance(Named& state, const logging::Log& step) {
  const std::vector<spec::Update> updates = spec::all_updates(step.meaning.program);
  const std::vector<spec::TensorId>& outputs = step.meaning.system.outputs;
  Named after;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const HostTensor* value = step.value(outputs[outputs.size() - updates.size() + i]);
    if (value == nullptr) throw IoError(fmt::format("{}: `{}` is missing", step.file, updates[i].value));
    after.emplace(updates[i].parameter, *value);
  }
  for (auto& [name, value] : after) state.insert_or_assign(name, std::move(value));
}

std::string Explanation::step(std::int64_t number, Named& state, std::vector<double>& losses) {
  const logging::Log log = log_of(number, state);
  const logging::Judged judged = logging::judge(log);
  elements_ += judged.elements;
  undecided_ += judged.undecided;
  advance(state, log);
  losses.push_back(loss_of(log));
  return judged.faults.empty() ? "" : fmt::format("step {}: {}", number, fault_line(log.meaning.program, judged.faults.front()));
}

training::Replayed Explanation::interval(const std::vector<training::JournalLine>& lines, std::size_t at) {
  training::Replayed found{lines.at(at)};
  found.from = at == 0 ? 0 : lines[at - 1].step;
  std::string digest;
  Named state = state_after(found.from, digest);
  const auto differs = [&](std::string_view what, const std::string& is, const std::string& committed) {
    if (found.difference.empty() && is != committed) found.difference = fmt::format("{} is {}, committed is {}", what, is, committed);
  };
  differs(fmt::format("the state after step {}", found.from), digest, at == 0 ? start_ : lines[at - 1].state);
  std::vector<double> losses;
  for (std::int64_t number = found.from + 1; number <= found.line.step && found.difference.empty(); ++number) {
    found.difference = step(number, state, losses);
  }
  differs(fmt::format("the state after step {}", found.line.step), sha256_of(training::safetensors_of(state)), found.line.state);
  differs("the digest of the losses", training::digest_of_losses(losses), found.line.losses);
  found.same = found.difference.empty();
  return found;
}

std::optional<DisputedStep> first_disputed_step(const Explanation& a, const Explanation& b, const std::vector<training::JournalLine>& lines,
                                                std::size_t at) {
  const std::int64_t from = at == 0 ? 0 : lines[at - 1].step;
  std::string of_a, of_b;
  Named state = a.state_after(from, of_a);
  (void)b.state_after(from, of_b);
  if (of_a != of_b) {
    throw SpecViolation(fmt::format("dispute: the state after step {} is {} in the first trace, {} in the second", from, of_a, of_b));
  }
  for (std::int64_t number = from + 1; number <= lines[at].step; ++number) {
    const logging::Log one = a.log_of(number, state), other = b.log_of(number, state);
    logging::Comparison comparison = logging::compare(one, other);
    if (comparison.difference || !comparison.within_bounds()) return DisputedStep{number, std::move(comparison)};
    Explanation::advance(state, one);
  }
  return std::nullopt;
}

}  // namespace etalon::assurance
