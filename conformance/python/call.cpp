#include "conformance/python/call.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/python/arrays.hpp"
#include "conformance/python/attributes.hpp"
#include "spec/error.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;
using Tensors = std::vector<std::optional<HostTensor>>;

[[nodiscard]] bool is_list(py::handle given) {
  return py::isinstance<py::list>(given) || py::isinstance<py::tuple>(given);
}

[[nodiscard]] std::optional<HostTensor> optional_tensor(py::handle given, const std::string& name) {
  return given.is_none() ? std::nullopt : std::optional(tensor_of(given, name));
}

/// Per declared operand, the members of a pack one after the other.
[[nodiscard]] Tensors flat(const spec::Definition& definition, const py::sequence& given, const char* what,
                           std::vector<std::size_t>* packs) {
  if (py::len(given) > definition.operand_count)
    throw SpecViolation(fmt::format("{}: expected at most {} {}s, found {}", definition.name, definition.operand_count,
                                    what, py::len(given)));
  Tensors all;
  std::size_t at = 0;
  for (const py::handle item : given) {
    const spec::OperandText& operand = definition.operands[at++];
    const std::string name = fmt::format("{}: {} {}", definition.name, what, definition.at(operand.name));
    if (!operand.pack) {
      all.push_back(optional_tensor(item, name));
      continue;
    }
    if (!is_list(item))
      throw py::type_error(fmt::format("{}: expected a list of arrays, found {}", name,
                                       py::str(py::type::handle_of(item).attr("__name__")).cast<std::string>()));
    const auto members = py::reinterpret_borrow<py::sequence>(item);
    for (std::size_t m = 0; m < py::len(members); ++m)
      all.push_back(optional_tensor(members[m], fmt::format("{}[{}]", name, m)));
    if (packs != nullptr) packs->push_back(py::len(members));
  }
  return all;
}

}  // namespace

conformance::Case call_of(const Operation& operation, const py::sequence& operands, const py::dict& attributes) {
  conformance::Case call;
  call.key.operation = operation.name;
  call.key.library = operation.library;
  call.call.operation = operation.name;
  call.operands = flat(operation.definition(), operands, "operand", &call.call.packs);
  for (const auto& operand : call.operands)
    call.call.operands.push_back(operand ? std::optional(spec::ValueType{operand->dtype, operand->dims})
                                         : std::nullopt);
  call.call.attributes = attributes_of(attributes);
  call.wrt.assign(present(call).size(), false);
  return call;
}

void ask_jvp(conformance::Case& call, const py::sequence& tangents) {
  const spec::Definition& definition = definition_of(call);
  Tensors given = flat(definition, tangents, "tangent", nullptr);
  given.resize(std::max(given.size(), call.operands.size()));
  call.mode = spec::Mode::jvp;
  std::size_t input = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (i >= call.operands.size() || !call.operands[i]) {
      if (given[i]) throw SpecViolation(fmt::format("{}: tangent {} is of no operand", definition.name, i));
      continue;
    }
    call.wrt[input++] = given[i].has_value();
    call.tangents.push_back(std::move(given[i]));
  }
}

void ask_vjp(conformance::Case& call, const py::object& cotangents) {
  const spec::Definition& definition = definition_of(call);
  const py::tuple given = is_list(cotangents) ? py::tuple(cotangents) : py::make_tuple(cotangents);
  const std::size_t results = result_types(call).size();
  if (given.size() != results)
    throw SpecViolation(fmt::format("{}: expected {} cotangents, found {}", definition.name, results, given.size()));
  call.mode = spec::Mode::vjp;
  for (std::size_t r = 0; r < results; ++r)
    call.cotangents.push_back(optional_tensor(given[r], fmt::format("{}: cotangent {}", definition.name, r)));
  const std::vector<HostTensor> inputs = present(call);
  for (std::size_t i = 0; i < inputs.size(); ++i) call.wrt[i] = kind_of(inputs[i].dtype) == Kind::real;
}

}  // namespace etalon::python
