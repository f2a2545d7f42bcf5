#include "conformance/showing.hpp"

#include <fmt/format.h>

#include <ostream>

#include "conformance/admissible.hpp"
#include "conformance/number_text.hpp"
#include "conformance/reports/console.hpp"
#include "reference/bounds/envelope.hpp"

namespace etalon::conformance {
namespace {

std::string also_admitted(std::uint8_t flags) {
  std::string text;
  if ((flags & reference::admits_positive_infinity) != 0) text += " or inf";
  if ((flags & reference::admits_negative_infinity) != 0) text += " or -inf";
  if ((flags & reference::admits_nan) != 0) text += " or nan";
  if ((flags & reference::undecided) != 0) text += " (undecided: anything passes)";
  return text;
}

std::string element_text(const reference::Envelope& e, std::size_t i) {
  if (kind_of(e.dtype) != Kind::real && i < e.exact.size()) return fmt::format("{}", e.exact[i]);
  const bool finite = (e.flags[i] & reference::admits_finite) != 0;
  const std::string exact = shortest(e.reference[i]);
  if (!finite) return fmt::format("exact {}, admitted{}", exact, also_admitted(e.flags[i]));
  const Compared ends = told_apart(e.lower[i], e.upper[i], e.reference[i], DType::f64);
  return fmt::format("exact {}, in [{}, {}]{}", exact, ends.lower, ends.upper, also_admitted(e.flags[i]));
}

void write_expected(std::ostream& out, const Case& c, const spec::Contract& contract) {
  constexpr std::size_t most = 16;
  const spec::Request request = request_of(c);
  const Admissible admissible(request, contract);
  const spec::System& system = admissible.question().system;
  const reference::Envelopes bounds = admissible.meaning_of_first(most);
  for (std::size_t o = 0; o < bounds.outputs.size(); ++o) {
    const auto& [name, dtype, dims, range] = system[system.outputs[o]];
    const reference::Envelope& first = bounds.outputs[o];
    for (std::size_t i = 0; i < first.flags.size(); ++i) out << fmt::format("    {}[{}]: {}\n", name, i, element_text(first, i));
    const auto count = static_cast<std::size_t>(dims.count());
    if (count > most) out << fmt::format("    {}: {} more\n", name, count - most);
  }
}

}  // namespace

void show(std::ostream& out, const Case& c, const spec::Contract& contract) {
  out << fmt::format("{}: {} {} {}\n", id_of(c.key), c.key.operation, name_of(c.key.check), spec::name_of(c.mode));
  write_case(out, c);
  if (c.key.check == Check::rejection) {
    out << "  to be rejected: the call is ill-typed or breaks a `requires`\n";
  } else {
    out << fmt::format("  expected under {}{}\n", contract.name,
                       c.steps > 1 ? fmt::format(", first of {} steps", c.steps) : "");
    write_expected(out, c, contract);
  }
  write_equations(out, c);
}

}  // namespace etalon::conformance
