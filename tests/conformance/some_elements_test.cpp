// Bounds of some elements are those that the whole has there, and cost what these elements are computed from.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/values.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/library/library.hpp"
#include "tests/conformance/bounds_question.hpp"

using namespace etalon;
using conformance::Check;

namespace {

using Wanted = std::vector<std::vector<std::size_t>>;

/// Every third element, the last one first.
[[nodiscard]] Wanted some_of(const spec::System& system) {
  Wanted wanted;
  for (const spec::TensorId t : system.outputs) {
    wanted.emplace_back();
    for (auto i = static_cast<std::size_t>(system[t].dims.count()); i > 0; i -= std::min<std::size_t>(i, 3)) wanted.back().push_back(i - 1);
  }
  return wanted;
}

struct Compared {
  std::size_t elements = 0, different = 0;
};

/// As envelopes_of_elements says: below the smallest normal double one rounding outwards more or less is a last place.
[[nodiscard]] bool is_same_end(double a, double b) {
  return a == b || (std::fabs(a) < std::numeric_limits<double>::min() && std::nextafter(a, b) == b);
}

void compare(const reference::Envelope& whole, const reference::Envelope& some, const std::vector<std::size_t>& wanted, Compared& into) {
  // How many ways are tried hangs on how many elements are asked for.
  constexpr auto decided = static_cast<std::uint8_t>(~(reference::undecided | reference::given_up));
  REQUIRE(some.flags.size() == wanted.size());
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    const std::size_t i = wanted[n];
    ++into.elements;
    bool same = (some.flags[n] & decided) == (whole.flags[i] & decided);
    const bool finite = (whole.flags[i] & reference::admits_finite) != 0;
    if (kind_of(whole.dtype) != Kind::real) same = same && some.exact[n] == whole.exact[i];
    else if (finite) same = same && is_same_end(some.lower[n], whole.lower[i]) && is_same_end(some.upper[n], whole.upper[i]) && some.reference[n] == whole.reference[i];
    into.different += same ? 0 : 1;
  }
}

[[nodiscard]] spec::System softmax(std::int64_t rows, std::int64_t columns) {
  const std::string program = "input x : f32[" + std::to_string(rows) + ", " + std::to_string(columns) + "]\ny = softmax(x)\noutput y\n";
  return spec::lower(spec::parse_program(program));
}

[[nodiscard]] std::vector<HostTensor> normal(const spec::System& system) {
  conformance::Draw draw("some elements");
  std::vector<HostTensor> inputs;
  for (const spec::TensorId t : system.inputs) inputs.push_back(conformance::draw_real(draw, conformance::Family::normal, system[t].dtype, system[t].dims));
  return inputs;
}

}  // namespace

TEST_CASE("bounds of some elements are those that the whole has there", "[some_elements]") {
  constexpr std::size_t most_elements = 300;
  Compared all;
  std::size_t cases = 0;
  for (const spec::Definition* d : spec::library()) {
    for (const Check check : {Check::value, Check::vjp, Check::jvp, Check::special}) {
      const std::uint64_t index = (cases * 7) % 20;
      const auto c = conformance::make_case({std::string(d->name), check, cases % 4 == 0 ? DType::f64 : DType::f32, index, 1, {}});
      if (!c || elements_of(*c) > most_elements) continue;
      const auto q = bounds_test::question_of(*c);
      const Wanted wanted = some_of(q.system);
      const reference::Envelopes whole = reference::envelopes(q.system, q.inputs, {});
      const reference::Envelopes some = reference::envelopes_of_elements(q.system, q.inputs, {}, wanted);
      REQUIRE(some.outputs.size() == whole.outputs.size());
      const std::size_t before = all.different;
      for (std::size_t o = 0; o < whole.outputs.size(); ++o) compare(whole.outputs[o], some.outputs[o], wanted[o], all);
      INFO(id_of(c->key));
      CHECK(all.different == before);
      ++cases;
    }
  }
  CHECK(cases >= 300);
  CHECK(all.elements >= 5000);
}

TEST_CASE("elements in few rows cost these rows", "[some_elements]") {
  const spec::System system = softmax(32, 64);
  const auto inputs = normal(system);
  const Wanted wanted{{5, 64 * 17 + 3, 64 * 17 + 63, 64 * 31}};
  const reference::Envelopes whole = reference::envelopes(system, inputs, {});
  const reference::Envelopes some = reference::envelopes_of_elements(system, inputs, {}, wanted);
  Compared all;
  compare(whole.outputs[0], some.outputs[0], wanted[0], all);
  CHECK(all.elements == 4);
  CHECK(all.different == 0);
  REQUIRE(some.nodes > 0);
  CHECK(some.nodes * 8 <= whole.nodes);  // three rows of 32, and no element beside them
}
