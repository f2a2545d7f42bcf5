#include "tools/assurance/explained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/quoted.hpp"
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
    if (!known.contains(name)) throw IoError(fmt::format("{}: `{}` is no value that the program computes", file, as_quoted(name)));
  }
}

double loss_of(const logging::Log& step) {
  const std::vector<std::string>& names = step.meaning.program.outputs;
  const auto at = std::find(names.begin(), names.end(), training::names::loss);
  if (at == names.end()) throw SpecViolation(fmt::format("explained: the step has no output `{}`", training::names::loss));
  const HostTensor* loss = step.value(step.meaning.system.outputs[static_cast<std::size_t>(at - names.begin())]);
  return training::number_in(*loss, training::names::loss);
}

std::int64_t step_before(const std::vector<training::JournalLine>& lines, std::size_t at) { return at == 0 ? 0 : lines.at(at - 1).step; }

/// One line that says so where these differ.
std::string difference(std::string_view what, const std::string& is, const std::string& committed) {
  return is == committed ? "" : fmt::format("{} is {}, committed is {}", what, is, committed);
}

/// How the end of an interval is not what the line says; nothing where it is.
std::string difference_at_end(const training::JournalLine& line, const Named& state, const std::vector<double>& losses) {
  const std::string digest = sha256_of(training::safetensors_of(state));
  const std::string of_state = difference(fmt::format("the state after step {}", line.step), digest, line.state);
  return of_state.empty() ? difference("the digest of the losses", training::digest_of_losses(losses), line.losses) : of_state;
}

}  // namespace

Explanation::Explanation(const training::Declaration& declaration, std::filesystem::path trace, const spec::Contract& contract)
    : program_(program_of(declaration)),
      trace_(std::move(trace)),
      contract_(contract),
      start_(declaration.start),
      interval_(declaration.interval) {
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

/// Intervals of no steps would thin out what an audit draws, those that go back would train the same steps twice.
std::string Explanation::length_fault(const std::vector<training::JournalLine>& lines, std::size_t at) const {
  const std::int64_t from = step_before(lines, at), to = lines.at(at).step, steps = to - from;
  const bool is_last = at + 1 == lines.size();
  if (steps == interval_ || (is_last && steps > 0 && steps < interval_)) return "";
  return fmt::format("it goes from step {} to step {}, expected {}{} steps more", from, to, is_last ? "1 to " : "", interval_);
}

std::string Explanation::begin(const std::vector<training::JournalLine>& lines, std::size_t at, Named& state) const {
  if (std::string fault = length_fault(lines, at); !fault.empty()) return fault;
  const std::int64_t from = step_before(lines, at);
  std::string digest;
  state = state_after(from, digest);
  return difference(fmt::format("the state after step {}", from), digest, at == 0 ? start_ : lines[at - 1].state);
}

training::Replayed Explanation::interval(const std::vector<training::JournalLine>& lines, std::size_t at) {
  training::Replayed found{lines.at(at)};
  found.from = step_before(lines, at);
  const std::size_t held = elements_;
  Named state;
  std::vector<double> losses;
  found.difference = begin(lines, at, state);
  for (std::int64_t number = found.from + 1; number <= found.line.step && found.difference.empty(); ++number) {
    found.difference = step(number, state, losses);
  }
  if (found.difference.empty()) found.difference = difference_at_end(found.line, state, losses);
  if (found.difference.empty() && elements_ == held) found.difference = "no element of its steps is held to a bound";
  found.same = found.difference.empty();
  return found;
}

std::string Explanation::departure(const std::vector<training::JournalLine>& lines, std::size_t at) const {
  Named state;
  if (std::string fault = begin(lines, at, state); !fault.empty()) return fault;
  std::vector<double> losses;
  for (std::int64_t number = step_before(lines, at) + 1; number <= lines[at].step; ++number) {
    const logging::Log log = log_of(number, state);
    losses.push_back(loss_of(log));
    advance(state, log);
  }
  return difference_at_end(lines[at], state, losses);
}

namespace {

/// The first step of an interval whose values differ in the traces of two sides, or leave their bounds, from the state before it.
std::optional<DisputedStep> first_disputed_step(const Side& first, const Side& second, std::size_t at, Named state) {
  const std::int64_t last = std::min(first.lines.at(at).step, second.lines.at(at).step);
  for (std::int64_t number = step_before(first.lines, at) + 1; number <= last; ++number) {
    const logging::Log one = first.trace.log_of(number, state), other = second.trace.log_of(number, state);
    logging::Comparison comparison = logging::compare(one, other);
    if (comparison.difference || !comparison.within_bounds()) return DisputedStep{number, std::move(comparison)};
    Explanation::advance(state, one);
  }
  return std::nullopt;
}

/// A trace that ends early is its side's fault, and takes nothing from what was found before.
std::string departure_of(const Side& side, std::size_t at) {
  try {
    return side.trace.departure(side.lines, at);
  } catch (const IoError& error) {
    return error.what();
  }
}

}  // namespace

DisputedInterval dispute(const Side& first, const Side& second, std::size_t at) {
  DisputedInterval found;
  Named state, other;
  found.departures = {first.trace.begin(first.lines, at, state), second.trace.begin(second.lines, at, other)};
  if (!found.departures[0].empty() || !found.departures[1].empty()) return found;
  found.step = first_disputed_step(first, second, at, std::move(state));
  found.departures = {departure_of(first, at), departure_of(second, at)};
  return found;
}

}  // namespace etalon::assurance
