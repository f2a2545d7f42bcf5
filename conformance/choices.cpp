#include "conformance/choices.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "conformance/draw.hpp"
#include "reference/evaluate.hpp"
#include "spec/notation/attributes.hpp"

namespace etalon::conformance {
namespace {

using Numbers = std::vector<reference::Array<double>>;

// The same ones for every call; 1 where an integer stands, which is in most ranges and no step of nothing.
Numbers ordinary_numbers(const spec::System& system) {
  Draw draw(std::uint64_t{1});
  Numbers all;
  for (const spec::TensorId t : system.inputs) {
    reference::Array<double> numbers(kind_of(system[t].dtype), system[t].dims);
    for (double& x : numbers.real) x = draw.normal();
    for (std::int64_t& k : numbers.integer) k = numbers.kind == Kind::boolean ? draw.integer(0, 1) : 1;
    all.push_back(std::move(numbers));
  }
  return all;
}

bool are_equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool are_same(const Numbers& a, const Numbers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.integer == y.integer && std::equal(x.real.begin(), x.real.end(), y.real.begin(), y.real.end(), are_equal);
  });
}

std::vector<std::int64_t> longer_axes(const Dims& dims) {
  std::vector<std::int64_t> extents;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(extents), [](std::int64_t n) { return n != 1; });
  return extents;
}

}  // namespace

// Nothing is the same of calls that cannot be compared.
bool give_the_same(const spec::Definition& d, const CallTypes& one, const CallTypes& other) {
  try {
    const spec::Instance a = spec::instantiate(d, one.operands, one.packs, one.attributes);
    const spec::Instance b = spec::instantiate(d, other.operands, other.packs, other.attributes);
    if (a.results != b.results || a.system.inputs != b.system.inputs || one.operands != other.operands) return false;
    const Numbers inputs = ordinary_numbers(a.system);
    return are_same(reference::evaluate<double>(a.system, inputs), reference::evaluate<double>(b.system, inputs));
  } catch (const std::exception&) {
    return false;
  }
}

bool leaves_as_is(const spec::Instance& instance) {
  const spec::System& system = instance.system;
  if (system.inputs.empty() || instance.results.size() != 1) return false;
  if (longer_axes(system[system.inputs[0]].dims) != longer_axes(instance.results[0].dims)) return false;
  try {
    const Numbers inputs = ordinary_numbers(system);
    return are_same({inputs[0]}, reference::evaluate<double>(system, inputs));
  } catch (const std::exception&) {
    return false;
  }
}

bool choices_show(const spec::Definition& definition, const CallTypes& call) {
  for (std::size_t i = 0; i < definition.attribute_count; ++i) {
    const spec::AttributeText& a = definition.attributes[i];
    const bool chooses = a.kind == spec::AttributeKind::boolean || a.kind == spec::AttributeKind::symbol;
    CallTypes plain = call;
    if (!chooses || !a.has_default || plain.attributes.erase(std::string(definition.at(a.name))) == 0) continue;
    const auto complete = [&](const CallTypes& c) { return spec::to_attributes(definition, spec::bind_attributes(definition, c.attributes)); };
    if (complete(call) != complete(plain) && give_the_same(definition, call, plain)) return false;
  }
  return true;
}

}  // namespace etalon::conformance
