#include <fmt/format.h>

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

using spec::System;

namespace {

std::string_view name_of(KernelKind kind) {
  constexpr std::string_view names[] = {"loops", "scatter", "strips", "sequence"};
  return names[static_cast<std::size_t>(kind)];
}

std::string statement_text(const System& system, const Statement& s) {
  const spec::Equation& equation = system.equations[s.equation];
  if (s.in_passing) return fmt::format("    {}: {} adds up in passing, {} parts\n", s.equation, system[equation.target].name, equation.binders[0].extent);
  std::string shared;
  for (const std::size_t b : s.shared) shared += " " + equation.binders[b].name;
  const std::string source = source_text(system, equation.origin);
  return fmt::format("    {}: {} shares{}{}\n", s.equation, system[equation.target].name,
                     shared.empty() ? " no loop" : shared, source.empty() ? "" : " from " + source);
}

std::string scatter_text(const System& system, const Kernel& kernel) {
  const spec::Equation& equation = system.equations[kernel.statements.front().equation];
  std::string text;
  for (const Scatter::Hit& h : kernel.scatter.hits) {
    text += fmt::format("    {} = {}\n", equation.binders[h.binder].name, spec::to_text(system, h.index));
  }
  return text;
}

}  // namespace

std::string source_text(const System& system, std::int32_t origin) {
  if (origin < 0) return {};
  const spec::Origin& from = system.origins.at(static_cast<std::size_t>(origin));
  std::string text = from.file.empty() ? "" : fmt::format("{}:{}", from.file, from.line);
  if (!from.section.empty()) text += fmt::format("{}section \"{}\"", text.empty() ? "" : ", ", from.section);
  return text;
}

std::string home_text(const System& system, const Residence& r) {
  switch (r.home) {
    case Home::none:
      return "nowhere";
    case Home::input:
      return fmt::format("input {}", r.index);
    case Home::output:
      return fmt::format("output {}", r.index);
    case Home::in_place:
      return fmt::format("output {} in place of {}", r.output, system[system.inputs[r.index]].name);
    case Home::arena:
      return fmt::format("arena [{}, {})", r.offset, r.offset + r.bytes);
    case Home::turn: return fmt::format("{} bytes of an iteration", r.bytes);
    case Home::in_register:
      return "register";
  }
  return "?";
}

std::string to_text(const System& system, const Plan& plan) {
  std::string text;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const Kernel& kernel = plan.kernels[k];
    std::string loops;
    for (const std::int64_t n : kernel.loops) loops += fmt::format(" {}", n);
    text += fmt::format("kernel {} {}{}: {}\n", k, name_of(kernel.kind), loops, kernel.reason);
    for (std::size_t s = 0; s < kernel.statements.size(); ++s) {
      text += statement_text(system, kernel.statements[s]);
      if (kernel.strips && kernel.strips->schedules.contains(s)) text += "       a contraction: " + to_text(kernel.strips->schedules.at(s)) + "\n";
      if (kernel.strips && kernel.strips->wanted.contains(s)) text += "       only tiles where " + spec::to_text(system, kernel.strips->wanted.at(s)) + " holds somewhere\n";
    }
    if (kernel.kind == KernelKind::scatter) text += scatter_text(system, kernel);
    if (const auto& s = kernel.scratch) text += fmt::format("    of its own: {} bytes of the arena from {} on for each of {} threads\n", s->bytes, s->offset, s->threads);
  }
  for (std::size_t t = 0; t < plan.residences.size(); ++t) {
    const Residence& r = plan.residences[t];
    if (r.home == Home::none) continue;
    text += fmt::format("{} in {}: {}\n", system.tensors[t].name, home_text(system, r), r.reason);
  }
  for (const spec::TensorWish& w : system.wishes) {
    if (plan.residences[static_cast<std::size_t>(w.tensor)].home != Home::none) continue;
    text += fmt::format("{} {}: asked for: {}\n", system[w.tensor].name, w.asked == spec::Asked::inlined ? "inlined" : "nowhere", w.by);
  }
  for (const Commit& c : plan.commits) {
    text += fmt::format("commit {} to {}: {}\n", system[system.outputs[c.output]].name,
                        system[system.inputs[c.input]].name, c.reason);
  }
  if (!plan.order.empty()) text += "order: " + plan.order + "\n";
  for (const Recomputation& r : plan.recomputations) {
    text += fmt::format("computed again: {}, {} bytes for {:.0f} operations: {}\n", system[r.value].name, r.bytes, r.operations, r.reason);
  }
  return text + fmt::format("arena {} bytes\n", plan.arena_bytes);
}

}  // namespace etalon::compiled
