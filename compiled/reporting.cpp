#include "compiled/reporting.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compiled/compile.hpp"
#include "compiled/ir/flow.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/ir/wishes.hpp"

namespace etalon::compiled {

namespace {

std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

bool in_memory(Home home) { return home == Home::input || home == Home::output || home == Home::in_place || home == Home::arena; }

/// How often each tensor is read, by all iterations together.
void count_reads(const Expr& e, double points, std::map<TensorId, double>& reads) {
  if (e.form() == Form::reduce) points *= points_of<double>(e->binders);
  if (e.form() == Form::read) reads[e->tensor] += points;
  for (const Expr& a : e->args) count_reads(a, points, reads);
}

Keeping keeping_of(Home home) {
  switch (home) {
    case Home::none: return Keeping::inlined;
    case Home::turn:
    case Home::in_register: return Keeping::local;
    case Home::arena: return Keeping::stored;
    case Home::input:
    case Home::output:
    case Home::in_place: return Keeping::shared;
  }
  return Keeping::inlined;
}

std::string_view what_stage(std::string_view name) {
  const auto all = stages();
  const auto stage = std::find_if(all.begin(), all.end(), [&](const Stage& s) { return s.name == name; });
  return stage == all.end() ? name : stage->what;
}

/// Why a value is in the arena: who needs it there.
std::string why_stored(const System& system, const Plan& plan, const Flow& flow, TensorId t) {
  for (const Commit& c : plan.commits) {
    if (system.outputs[c.output] == t) return "copied to " + system[system.inputs[c.input]].name + " at the end: " + c.reason;
  }
  const auto& writers = flow.writers[at(t)];
  const auto& readers = flow.readers[at(t)];
  if (writers.empty()) return "nothing writes it";
  const auto later = std::find_if(readers.begin(), readers.end(), [&](std::size_t k) { return k != writers.back(); });
  if (later != readers.end()) return fmt::format("computed by kernel {}, read by kernel {}, last by kernel {}", writers.front(), *later, readers.back());
  return fmt::format("kernel {} reads elements of other iterations, or more than one has room for", writers.front());
}

}  // namespace

std::string_view name_of(Keeping keeping) {
  constexpr std::string_view names[] = {"inlined", "local", "stored", "shared"};
  return names[static_cast<std::size_t>(keeping)];
}

ValueHistory::ValueHistory(const System& before)
    : given_(before.tensors.size()), computed_(before.tensors.size()), gone_(before.tensors.size()) {
  sources_.resize(given_);
  for (const spec::Equation& e : before.equations) {
    computed_[at(e.target)] = true;
    sources_[at(e.target)] = source_text(before, e.origin);
  }
}

void ValueHistory::after(std::string_view stage, const System& system) {
  const Uses uses = uses_of(system);
  for (std::size_t t = 0; t < given_; ++t) {
    if (gone_[t].empty() && uses.reads[t] == 0 && !uses.is_output[t]) gone_[t] = stage;
  }
}

std::vector<ValueReport> ValueHistory::reports(const System& system, const Plan& plan) const {
  const Flow flow = flow_of(system, plan.kernels);
  const std::vector<std::string> requests = wishes_by_tensor(system);
  std::vector<std::string> sources = sources_;
  sources.resize(system.tensors.size());
  for (const spec::Equation& e : system.equations) {
    if (sources[at(e.target)].empty()) sources[at(e.target)] = source_text(system, e.origin);
  }
  std::vector<ValueReport> values;
  for (std::size_t t = 0; t < system.tensors.size(); ++t) {
    const Residence& r = plan.residences[t];
    if (r.home == Home::none && (t >= given_ || !computed_[t])) continue;
    ValueReport v;
    v.name = system.tensors[t].name;
    v.keeping = keeping_of(r.home);
    v.where = r.home == Home::none ? "" : home_text(system, r);
    v.bytes = r.bytes;
    v.reason = r.reason;
    if (r.home == Home::arena) v.reason = why_stored(system, plan, flow, static_cast<TensorId>(t));
    if (r.home == Home::none) {
      v.reason = gone_[t].empty() ? "its readers compute it" : fmt::format("{}: {}", gone_[t], what_stage(gone_[t]));
    }
    v.source = std::move(sources[t]);
    v.request = requests[t];
    if (!v.request.empty() && (r.home == Home::arena || r.home == Home::none)) v.reason += "; asked for: " + v.request;
    values.push_back(std::move(v));
  }
  return values;
}

std::vector<KernelReport> kernel_reports(const System& system, const Plan& plan) {
  std::vector<KernelReport> reports;
  for (const Kernel& kernel : plan.kernels) {
    KernelReport report;
    report.reason = kernel.reason;
    std::map<TensorId, double> reads;
    std::map<TensorId, double> writes;
    for (const Statement& s : kernel.statements) {
      const spec::Equation& e = system.equations[s.equation];
      count_reads(e.value, points_of<double>(e.binders), reads);
      for (const Expr& p : e.place) count_reads(p, points_of<double>(e.binders), reads);
      writes[e.target] += points_of<double>(e.binders);
      report.operations += operations_of(e);
      report.name = system[e.target].name;
    }
    const auto bytes = [&](const std::map<TensorId, double>& times) {
      std::size_t sum = 0;
      for (const auto& [t, n] : times) {
        if (!in_memory(plan.residences[at(t)].home)) continue;
        const auto touched = std::min(static_cast<double>(bytes_of(system[t])), n * static_cast<double>(size_of(system[t].dtype)));
        sum += static_cast<std::size_t>(touched);
      }
      return sum;
    };
    report.read_bytes = bytes(reads);
    report.written_bytes = bytes(writes);
    reports.push_back(std::move(report));
  }
  return reports;
}

void count_bytes(const System& system, const Plan& plan, Report& report) {
  report.arena_bytes = plan.arena_bytes;
  for (const TensorId t : system.inputs) report.input_bytes += bytes_of(system[t]);
  for (const TensorId t : system.outputs) {
    if (plan.residences[at(t)].home == Home::output) report.output_bytes += bytes_of(system[t]);
  }
}

std::string to_text(const std::vector<ValueReport>& values) {
  std::string text;
  for (const ValueReport& v : values) {
    text += fmt::format("{} is {}{}{}: {}{}{}\n", v.name, name_of(v.keeping), v.where.empty() ? "" : " in ", v.where, v.reason,
                        v.layout.empty() ? "" : "; lies in " + v.layout, v.source.empty() ? "" : "; from " + v.source);
  }
  return text;
}

}  // namespace etalon::compiled
