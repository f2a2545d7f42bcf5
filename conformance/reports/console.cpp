#include "conformance/reports/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "conformance/number_text.hpp"
#include "conformance/program_case.hpp"
#include "conformance/reports/gaps.hpp"
#include "conformance/reports/matrix.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

void write_totals(std::ostream& out, const Totals& t, double seconds) {
  out << fmt::format(
      "{} pass, {} fail, {} unsupported, {} waived, {} undecided, {} crashed, {} timeout; {} comparisons, "
      "{:.3f} % of them undecided; {:.1f} s\n",
      t.of(Verdict::pass), t.of(Verdict::fail), t.of(Verdict::unsupported), t.of(Verdict::waived),
      t.of(Verdict::undecided), t.of(Verdict::crashed), t.of(Verdict::timeout), t.comparisons,
      t.comparisons == 0 ? 0.0 : 100.0 * static_cast<double>(t.undecided) / static_cast<double>(t.comparisons),
      seconds);
}

// As narrow as its words, without the columns of which nothing was asked.
void write_rows(std::ostream& out, const Matrix& matrix, std::optional<std::size_t> width) {
  std::size_t first = std::string_view("operation").size();
  std::array<std::size_t, columns.size()> widths{};
  for (const auto& [name, cells] : matrix) {
    first = std::max(first, name.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (cells[k].cases > 0) widths[k] = std::max({widths[k], cells[k].text().size(), columns[k].size()});
    }
  }
  for (std::size_t begin = 0, end = 0; begin < columns.size(); begin = end) {
    std::size_t used = first;
    const auto fits = [&](std::size_t k) { return used == first || !width || used + 2 + widths[k] <= *width; };
    for (end = begin; end < columns.size() && fits(end); ++end) used += widths[end] > 0 ? 2 + widths[end] : 0;
    if (used == first) break;
    const auto write_row = [&](std::string_view name, const auto& text_of) {
      out << fmt::format("{:<{}}", name, first);
      for (std::size_t k = begin; k < end; ++k) {
        if (widths[k] > 0) out << fmt::format("  {:>{}}", text_of(k), widths[k]);
      }
      out << "\n";
    };
    write_row("operation", [](std::size_t k) { return std::string(columns[k]); });
    for (const auto& [name, cells] : matrix) write_row(name, [&of = cells](std::size_t k) { return of[k].text(); });
  }
  out << "comparisons (worst error over bound)\n";
}

std::string attribute_text(const spec::AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, spec::ValueName>) {
          return v.name;
        } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool> || std::is_arithmetic_v<T>) {
          return fmt::format("{}", v);
        } else {
          return fmt::format("[{}]", fmt::join(v, ", "));
        }
      },
      value);
}

void write_inputs(std::ostream& out, const Case& c, const spec::Definition* definition) {
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    const bool plain = definition != nullptr && c.operands.size() == definition->operand_count;
    const std::string name =
        c.program ? c.program->inputs[i].name
        : plain ? std::string(definition->at(definition->operands[i].name)) : fmt::format("operand {}", i);
    if (c.operands[i]) out << fmt::format("    {} = {}\n", name, values_text(*c.operands[i]));
  }
  for (const auto& [name, value] : c.call.attributes) out << fmt::format("    {} = {}\n", name, attribute_text(value));
  for (std::size_t i = 0; i < c.tangents.size(); ++i) {
    if (c.tangents[i] && c.mode != spec::Mode::vjp)
      out << fmt::format("    tangent {} = {}\n", i, values_text(*c.tangents[i]));
  }
  for (std::size_t i = 0; i < c.cotangents.size(); ++i) {
    if (c.cotangents[i] && c.mode != spec::Mode::jvp)
      out << fmt::format("    cotangent {} = {}\n", i, values_text(*c.cotangents[i]));
  }
  for (std::size_t i = 0; i < c.cotangent_tangents.size(); ++i) {
    if (c.cotangent_tangents[i])
      out << fmt::format("    tangent of cotangent {} = {}\n", i, values_text(*c.cotangent_tangents[i]));
  }
}

void write_layouts(std::ostream& out, const Case& c) {
  if (c.key.check != Check::layout) return;
  const spec::Placements places = request_of(c).placements;
  const auto write = [&](const char* what, const std::vector<std::optional<spec::Placement>>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i])
        out << fmt::format("    {} {} has strides [{}], offset {}\n", what, i, fmt::join(list[i]->strides, ", "), list[i]->offset);
    }
  };
  write("operand", places.inputs);
  write("tangent", places.tangents);
  write("cotangent", places.cotangents);
}

void write_lines(std::ostream& out, std::string_view text) {
  out << "  of\n";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) out << "    " << text.substr(0, end) << "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void write_gaps(std::ostream& out, const Report& report) {
  constexpr std::size_t most = 12;
  const std::vector<Reason> reasons = reasons_of(report.records);
  for (std::size_t i = 0; i < std::min(most, reasons.size()); ++i) out << fmt::format("unsupported: {}\n", words_of(reasons[i]));
  if (reasons.size() > most) out << fmt::format("unsupported: and {} more reasons; --html and --json have all\n", reasons.size() - most);
  for (const NeverCompared& gap : never_compared(report)) out << words_of(gap) << "\n";
}

}  // namespace

std::string values_text(const HostTensor& t) {
  constexpr std::size_t shown = 16;
  std::string text = fmt::format("{}{}", name_of(t.dtype), to_string(t.dims)) + " {";
  const auto count = static_cast<std::size_t>(t.dims.count());
  for (std::size_t i = 0; i < std::min(count, shown); ++i) text += (i ? ", " : "") + shortest(element(t, i), t.dtype);
  if (count > shown) text += fmt::format(", … {} more", count - shown);
  return text + "}";
}

void write_heading(std::ostream& out, const Header& h) {
  out << fmt::format("backend: {} {}\ncontract: {}\ntier {}, seed {}, specification {}{}\n", h.backend, h.version,
                     h.contract_text, h.tier, h.seed, h.specification.substr(0, 8),
                     h.selection.shard.empty() ? "" : ", share " + h.selection.shard);
}

void write_table(std::ostream& out, const Report& report, std::optional<std::size_t> width) {
  const Matrix matrix = matrix_of(report.records);
  write_rows(out, matrix, width);
  const auto unclear = undecided_operations(report.records);
  if (!unclear.empty()) out << fmt::format("undecided (more than 1 % of the elements): {}\n", fmt::join(unclear, ", "));
  for (const Warning& w : statistical_warnings(report.records)) {
    out << fmt::format("warning (statistical, fails nobody): {} {} {}: errors of {} elements are {:.2f} times what "
                       "independent roundings make them\n",
                       w.operation, w.mode, w.dtype, w.statistic.elements, w.statistic.rms());
  }
  for (const WaiverUse& use : report.waivers) {
    if (use.matched > 0)
      out << fmt::format("waived: {}: {} failures, until {}: {}\n", words_of(use), use.matched, use.expires, use.reason);
  }
  for (const std::string& error : report.waiver_errors) out << error << "\n";
  write_gaps(out, report);
  out << fmt::format("coverage: {} of {} operations\n", matrix.size(), report.header.operations_known);
  write_totals(out, totals_of(report.records), report.seconds);
  out << conclusion(report).text << "\n";
}

void write_case(std::ostream& out, const Case& c) {
  write_inputs(out, c, c.key.library.find(c.call.operation));
  write_layouts(out, c);
}

void write_equations(std::ostream& out, const Case& c) {
  if (c.program) write_lines(out, spec::to_text(*c.program));
  // Of a program the operation that it is about, where it calls no other.
  const bool alone = !c.program || operations_of(*c.program) == std::vector<std::string>{c.call.operation};
  if (!alone) return;
  if (const spec::Definition* definition = c.key.library.find(c.call.operation)) {
    write_lines(out, definition->text);
  }
}

void write_counterexample(std::ostream& out, const std::string& replay, const std::string& id, const Case& c,
                          const Outcome& outcome) {
  out << fmt::format("{}: {}\n", id, outcome.why.empty() ? std::string(name_of(outcome.verdict)) : outcome.why);
  write_case(out, c);
  if (outcome.offender) out << "    " << difference(*outcome.offender) << "\n";
  if (!outcome.cause.empty()) out << "    " << outcome.cause << "\n";
  write_equations(out, c);
  out << fmt::format("  replay: {}\n", replay);
}

}  // namespace etalon::conformance
