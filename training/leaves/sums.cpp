#include "training/leaves/sums.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "spec/value_type.hpp"

namespace etalon::training {
namespace {

/// In any order: the bounds of sums do not know one.
constexpr const char* definition = R"(definitions
of_all_leaves(terms[l, ...]) -> y[...]
  y[...] = sum[i] terms[i, ...]
end definitions
)";

/// A tensor for each of so many, one after the other.
Dims stacked(std::int64_t count, const Dims& of_each) {
  Dims dims;
  dims.rank = of_each.rank + 1;
  dims[0] = count;
  for (std::size_t axis = 0; axis < of_each.rank; ++axis) dims[axis + 1] = of_each[axis];
  return dims;
}

}  // namespace

std::vector<std::string> sums_of(const spec::Program& update) {
  std::vector<std::string> names;
  for (const spec::Input& input : update.inputs) {
    if (input.role == spec::Role::input) names.push_back(input.name);
  }
  return names;
}

spec::Program sums_program(const spec::Program& update, std::int64_t leaves) {
  std::string inputs, calls, updates;
  for (const spec::Input& input : update.inputs) {
    if (input.role != spec::Role::input) continue;
    const spec::ValueType terms{input.dtype, stacked(leaves, input.dims)}, sum{input.dtype, input.dims};
    inputs += fmt::format("input {0}.terms : {1}\nparameter {0} : {2}\n", input.name, to_string(terms), to_string(sum));
    calls += fmt::format("{0}.sum = of_all_leaves({0}.terms)\n", input.name);
    updates += fmt::format("update {0} := {0}.sum\n", input.name);
  }
  return spec::parse_program(definition + inputs + calls + updates);
}

std::vector<HostTensor> sums_inputs(const std::vector<Summands>& terms, const Summands& sums) {
  std::vector<HostTensor> inputs;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    HostTensor all(sums[i].dtype, stacked(static_cast<std::int64_t>(terms.size()), sums[i].dims));
    auto to = all.bytes.begin();
    for (const Summands& of_leaf : terms) to = std::copy(of_leaf.at(i).bytes.begin(), of_leaf.at(i).bytes.end(), to);
    inputs.push_back(std::move(all));
    inputs.push_back(sums[i]);
  }
  return inputs;
}

}  // namespace etalon::training
