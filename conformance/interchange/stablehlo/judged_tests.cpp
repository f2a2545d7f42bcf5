#include "conformance/interchange/stablehlo/judged_tests.hpp"

#include <cctype>
#include <numeric>
#include <optional>

#include "conformance/interchange/alternatives.hpp"
#include "conformance/interchange/stablehlo/equations.hpp"
#include "conformance/pack/choice.hpp"
#include "conformance/pack/test.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"

namespace etalon::conformance::stablehlo {
namespace {

[[nodiscard]] Tensor holds(Instructions& out, const interchange::Alternative& one, const Tensor& y) {
  using Kind = interchange::Alternative::Kind;
  switch (one.kind) {
    case Kind::equal:
      return out.compare("EQ", y, out.constant(one.lower));
    case Kind::box:
      return out.binary("and", out.compare("LE", out.constant(one.lower), y),
                        out.compare("LE", y, out.constant(one.upper)));
    case Kind::nan:
      return out.binary("and", out.compare("NE", y, y), out.constant(one.lower));
    case Kind::anything:
      return out.constant(one.lower);
  }
  return y;
}

/// Element by element, whether the value is in the box.
[[nodiscard]] Tensor in_box(Instructions& out, const Way& way, const Tensor& y) {
  std::optional<Tensor> all;
  for (const interchange::Alternative& one : interchange::alternatives_of(way, y.type.dtype)) {
    const Tensor admitted = holds(out, one, y);
    all = all ? out.binary("or", *all, admitted) : admitted;
  }
  return *all;
}

/// Whether all elements are true.
[[nodiscard]] Tensor all_of(Instructions& out, const Tensor& truths) {
  Extents axes(truths.type.extents.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes.empty() ? truths : out.reduce("and", truths, out.truth(true), axes);
}

/// Whether the tensor lies in one of its boxes as a whole.
[[nodiscard]] Tensor in_some_box(Instructions& out, const std::vector<Way>& ways, const Tensor& y) {
  std::optional<Tensor> any;
  for (const Way& way : ways) {
    const Tensor here = all_of(out, in_box(out, way, y));
    any = any ? out.binary("or", *any, here) : here;
  }
  return *any;
}

/// Whether all tensors lie in their boxes of one position.
[[nodiscard]] Tensor in_joint_boxes(Instructions& out, const std::vector<PackedResult>& results,
                                    const std::vector<Tensor>& values) {
  std::optional<Tensor> any;
  for (std::size_t way = 0; way < results.front().ways.size(); ++way) {
    std::optional<Tensor> all;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Tensor here = all_of(out, in_box(out, results[i].ways[way], values[i]));
      all = all ? out.binary("and", *all, here) : here;
    }
    any = any ? out.binary("or", *any, *all) : *all;
  }
  return *any;
}

void expect_true(Instructions& out, const Tensor& truths) {
  out.line("check.expect_eq_const " + truths.name + ", dense<true> : " + to_text(truths.type));
}

/// \throws Unsupported where no result has an element
void expect_results(Instructions& out, const PackedTest& packed, const std::vector<Tensor>& values) {
  if (packed.joint) return expect_true(out, in_joint_boxes(out, packed.results, values));
  bool is_empty = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::vector<Way>& ways = packed.results[i].ways;
    if (count(values[i].type.extents) == 0) continue;  // nothing is said of nothing
    is_empty = false;
    expect_true(out, ways.size() == 1 ? in_box(out, ways.front(), values[i]) : in_some_box(out, ways, values[i]));
  }
  if (is_empty) throw Unsupported("results of no elements");
}

/// \throws Unsupported where the call has no instructions
[[nodiscard]] JudgedTest test_of(const PackedTest& packed) {
  const spec::System system = lower(packed.request.program);
  Instructions out;
  std::vector<Tensor> inputs;
  for (const HostTensor& numbers : packed.request.inputs)
    inputs.push_back(out.unary("optimization_barrier", out.constant(numbers)));
  std::vector<Tensor> values = write_equations(system, inputs, out);
  values.resize(packed.results.size());
  expect_results(out, packed, values);
  JudgedTest test{packed.request.id, "module {\n" + out.function("main", {}) + "}\n"};
  for (char& c : test.name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '_';
  return test;
}

}  // namespace

JudgedTests judged_tests(const ConformOptions& options, const spec::Contract& contract) {
  ConformOptions selected = options;
  selected.modes = {spec::Mode::forward};
  JudgedTests made;
  std::size_t ambiguous = 0;
  for (const Unit& unit : packed_units(selected)) {
    if (unit.check != Check::value) continue;
    for (const Case& c : chosen_cases(unit, selected)) {
      for (const PackedTest& packed : tests_of(c, contract, ambiguous)) {
        if (packed.rejected) continue;
        try {
          made.tests.push_back(test_of(packed));
        } catch (const Unsupported& why) {
          ++made.left_out[why.what()];
        }
      }
    }
  }
  if (ambiguous > 0) made.left_out["too many ways of computing"] = ambiguous;
  return made;
}

void write_judged_tests(const std::filesystem::path& folder, const JudgedTests& tests) {
  make_folder(folder);
  for (const JudgedTest& test : tests.tests) write_file(folder / (test.name + ".mlir"), test.text);
}

}  // namespace etalon::conformance::stablehlo
