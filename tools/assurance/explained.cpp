#include "tools/assurance/explained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/quoted.hpp"
#include "spec/sha256.hpp"
#include "spec/value_type.hpp"
#include "tools/assurance/fault_line.hpp"
#include "tools/log/judge.hpp"
#include "training/files/safetensors.hpp"
#include "training/leaves/programs.hpp"
#include "training/leaves/sums.hpp"
#include "training/outcome.hpp"
#include "training/step.hpp"
#include "training/tasks/shipped.hpp"

namespace etalon::assurance {
namespace {

using training::Named;

std::int64_t leaves_of(const training::Declaration& d) {
  if (d.grain >= 1 && d.batch % d.grain == 0) return d.batch / d.grain;
  throw SpecViolation(fmt::format("explained: a batch of {} rows in leaves of {}, expected a grain that divides it", d.batch, d.grain));
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

/// What a leaf gave.
training::Summands outputs_of(const logging::Log& leaf) {
  training::Summands outputs;
  for (const spec::TensorId output : leaf.meaning.system.outputs) outputs.push_back(*leaf.value(output));
  return outputs;
}

/// The sums that an update is given, taken out of what the trace says of it.
Named taken_sums(const spec::Program& update, Named& values, const std::string& file) {
  Named sums;
  for (const spec::Input& input : update.inputs) {
    if (input.role != spec::Role::input) continue;
    sums.emplace(input.name, found_in(values, input.name, input.dtype, input.dims, file));
    values.erase(input.name);
  }
  return sums;
}

/// Where a step has several logs, whose it is.
std::string part_of(const logging::Log& log, const std::vector<logging::Log>& logs) {
  const auto at = static_cast<std::size_t>(&log - logs.data());
  if (logs.size() == 1) return "";
  return at + 2 < logs.size() ? fmt::format(", leaf {}", at) : at + 1 < logs.size() ? ", sum of the leaves" : ", update";
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

Explanation::Explanation(const training::Declaration& declaration, std::filesystem::path trace, const spec::Contract& contract,
                         const std::filesystem::path& data)
    : leaves_(leaves_of(declaration)),
      trace_(std::move(trace)),
      contract_(contract),
      start_(declaration.start),
      interval_(declaration.interval) {
  programs_ = training::parse_step(declaration.program, leaves_ == 1 ? 1 : 2);
  std::error_code ignored;
  if (!std::filesystem::exists(trace_ / "data.safetensors", ignored) && training::is_shipped(declaration.task)) {
    rows_.emplace(declaration, data);
    return;
  }
  std::string digest;
  data_ = tensors_in(trace_ / "data.safetensors", &digest);
  if (digest != declaration.data) {
    throw SpecViolation(fmt::format("{}: its SHA-256 is {}, the run's data has {}", (trace_ / "data.safetensors").string(), digest,
                                    declaration.data));
  }
}

/// Indices count steps, the last one fastest.
std::vector<HostTensor> Explanation::inputs_of(const spec::Program& program, std::int64_t counted, const Named& data,
                                               const Named& state) const {
  std::vector<HostTensor> inputs(program.inputs.size());
  auto rest = static_cast<std::uint64_t>(counted);
  for (std::size_t i = inputs.size(); i-- > 0;) {
    const spec::Input& input = program.inputs[i];
    const bool kept = input.role == spec::Role::parameter;
    if (input.role == spec::Role::index) {
      const auto low = static_cast<std::uint64_t>(input.range->first), last = static_cast<std::uint64_t>(input.range->second) - low;
      const bool all = last == std::numeric_limits<std::uint64_t>::max();
      inputs[i] = HostTensor::of<std::int64_t>({}, {static_cast<std::int64_t>(low + (all ? rest : rest % (last + 1)))});
      rest = all ? 0 : rest / (last + 1);
    } else if (input.value) {
      inputs[i] = *input.value;
    } else {
      inputs[i] = found_in(kept ? state : data, input.name, input.dtype, input.dims, (trace_ / (kept ? "state" : "data")).string());
    }
  }
  if (rest != 0) throw SpecViolation(fmt::format("{}: step {} is beyond what the program's indices count", trace_.string(), counted + 1));
  return inputs;
}

std::filesystem::path Explanation::file_of(std::int64_t number) const { return trace_ / fmt::format("step-{}.safetensors", number); }

logging::Log Explanation::log_of(const spec::Program& program, std::vector<HostTensor> inputs, const Named& values,
                                 const std::string& file) const {
  logging::Log log;
  log.file = file;
  log.backend = "trace";
  log.contract = contract_;
  log.meaning = logging::meaning_of(program);
  log.inputs = std::move(inputs);
  fill(log, values, named_by(log.meaning.program), file);
  return log;
}

logging::Log Explanation::log_of_sums(const std::vector<training::Summands>& terms, const Named& sums, const std::string& file) const {
  const spec::Program program = training::sums_program(programs_.back(), leaves_);
  training::Summands in_order;
  Named values;
  for (const std::string& name : training::sums_of(programs_.back())) in_order.push_back(sums.at(name));
  for (const spec::Update& update : program.updates) values.emplace(update.value, sums.at(update.parameter));
  return log_of(program, training::sums_inputs(terms, in_order), values, file);
}

std::vector<logging::Log> Explanation::logs_of(std::int64_t number, const Named& state) {
  const Named& data = rows_ ? rows_->of_step(number) : data_;
  const std::string file = file_of(number).string();
  Named last = tensors_in(file);
  if (leaves_ == 1) return {log_of(programs_.front(), inputs_of(programs_.front(), number - 1, data, state), last, file)};

  std::vector<logging::Log> logs;
  std::vector<training::Summands> terms;
  for (std::int64_t leaf = 0; leaf < leaves_; ++leaf) {
    const std::string of_leaf = (trace_ / fmt::format("step-{}-leaf-{}.safetensors", number, leaf)).string();
    logs.push_back(log_of(programs_.front(), inputs_of(programs_.front(), (number - 1) * leaves_ + leaf, data, state),
                          tensors_in(of_leaf), of_leaf));
    terms.push_back(outputs_of(logs.back()));
  }
  const Named sums = taken_sums(programs_.back(), last, file);
  logs.push_back(log_of_sums(terms, sums, file));
  logs.push_back(log_of(programs_.back(), inputs_of(programs_.back(), number - 1, sums, state), last, file));
  return logs;
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
  const std::vector<logging::Log> logs = logs_of(number, state);
  for (const logging::Log& log : logs) {
    const logging::Judged judged = logging::judge(log);
    elements_ += judged.elements;
    undecided_ += judged.undecided;
    if (judged.faults.empty()) continue;
    return fmt::format("step {}{}: {}", number, part_of(log, logs), fault_line(log.meaning.program, judged.faults.front()));
  }
  advance(state, logs.back());
  losses.push_back(loss_of(logs.back()));
  return "";
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

std::string Explanation::departure(const std::vector<training::JournalLine>& lines, std::size_t at) {
  Named state;
  if (std::string fault = begin(lines, at, state); !fault.empty()) return fault;
  std::vector<double> losses;
  for (std::int64_t number = step_before(lines, at) + 1; number <= lines[at].step; ++number) {
    const std::vector<logging::Log> logs = logs_of(number, state);
    losses.push_back(loss_of(logs.back()));
    advance(state, logs.back());
  }
  return difference_at_end(lines[at], state, losses);
}

namespace {

/// The first step of an interval whose values differ in the traces of two sides, or leave their bounds, from the state before it.
std::optional<DisputedStep> first_disputed_step(const Side& first, const Side& second, std::size_t at, Named state) {
  const std::int64_t last = std::min(first.lines.at(at).step, second.lines.at(at).step);
  for (std::int64_t number = step_before(first.lines, at) + 1; number <= last; ++number) {
    const std::vector<logging::Log> one = first.trace.logs_of(number, state), other = second.trace.logs_of(number, state);
    for (std::size_t part = 0; part < one.size(); ++part) {
      logging::Comparison comparison = logging::compare(one[part], other.at(part));
      if (comparison.difference || !comparison.within_bounds()) return DisputedStep{number, std::move(comparison)};
    }
    Explanation::advance(state, one.back());
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
