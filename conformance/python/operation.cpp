#include "conformance/python/operation.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <vector>

#include "conformance/contradiction.hpp"
#include "conformance/door/door.hpp"
#include "conformance/explanation.hpp"
#include "conformance/python/others_run.hpp"
#include "spec/error.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;

[[nodiscard]] std::vector<std::string> operands_of(const Operation& operation) {
  const spec::Definition& d = operation.definition();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < d.operand_count; ++i) names.emplace_back(d.at(d.operands[i].name));
  return names;
}

/// Per operand whether it stands for any number of arrays.
[[nodiscard]] std::vector<bool> packs_of(const Operation& operation) {
  const spec::Definition& d = operation.definition();
  std::vector<bool> packs;
  for (std::size_t i = 0; i < d.operand_count; ++i) packs.push_back(d.operands[i].pack);
  return packs;
}

[[nodiscard]] std::vector<std::string> results_of(const Operation& operation) {
  const spec::Definition& d = operation.definition();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < d.result_count; ++i) names.emplace_back(d.at(d.results[i].name));
  return names;
}

/// Per attribute the text of its default, or nothing.
[[nodiscard]] py::dict attributes_of(const Operation& operation) {
  const spec::Definition& d = operation.definition();
  py::dict defaults;
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    const spec::AttributeText& a = d.attributes[i];
    defaults[py::str(std::string(d.at(a.name)))] =
        a.has_default ? py::object(py::str(std::string(d.at(a.value)))) : py::none();
  }
  return defaults;
}

/// The equations of a derivative of a sample call.
[[nodiscard]] std::string equations(const Operation& operation, std::optional<spec::System> conformance::Derived::*derivative) {
  const auto derived = conformance::derivation_of(operation.library, operation.name, DType::f32, 0).derived;
  return derived && (*derived).*derivative ? to_text(*((*derived).*derivative)) : "";
}

[[nodiscard]] conformance::Explanation explained(const Operation& operation) {
  const OthersRun others_run;
  return conformance::explanation_of(operation.library, operation.name, DType::f32, 0);
}

[[nodiscard]] std::string answered(const std::string& request) {
  const OthersRun others_run;
  return conformance::door(request);
}

/// The last definition of the text, in a library with all of them.
[[nodiscard]] Operation defined(const std::string& text, const std::optional<Operation>& beside) {
  const spec::Library library = (beside ? beside->library : spec::Library()).with(text, "definition");
  if (library.added().empty()) throw SpecViolation("definition: expected an operation, found none");
  for (const std::string& own : library.added()) {
    if (const auto wrong = conformance::contradiction(library, own)) throw SpecViolation("definition: " + *wrong);
  }
  return {library, library.added().back()};
}

[[nodiscard]] std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const spec::Definition* definition : spec::library()) all.emplace_back(definition->name);
  return all;
}

}  // namespace

Operation operation_of(py::handle given) {
  if (py::isinstance<Operation>(given)) return given.cast<Operation>();
  if (!py::isinstance<py::str>(given))
    throw py::type_error("op: expected an operation or its name, found " + py::repr(given).cast<std::string>());
  Operation operation{{}, given.cast<std::string>()};
  operation.name = operation.definition().name;
  return operation;
}

void bind_operation(py::module_& module) {
  py::class_<Operation>(module, "Operation", "An operation: one readable equation.")
      .def_readonly("name", &Operation::name)
      .def_property_readonly(
          "text", [](const Operation& o) { return std::string(o.definition().text); },
          "The definition in the notation.")
      .def_property_readonly(
          "notes", [](const Operation& o) { return std::string(o.definition().doc); },
          "What is said before the equations.")
      .def_property_readonly("operands", &operands_of, "The names of the operands, in order.")
      .def_property_readonly("packs", &packs_of, "Per operand whether it is a list of arrays.")
      .def_property_readonly("results", &results_of, "The names of the results, in order.")
      .def_property_readonly("attributes", &attributes_of, "Per attribute the text of its default, or None.")
      .def_property_readonly(
          "jvp", [](const Operation& o) { return equations(o, &conformance::Derived::jvp); },
          "The equations of the tangents of the results at a sample call; empty without a derivative.")
      .def_property_readonly(
          "vjp", [](const Operation& o) { return equations(o, &conformance::Derived::vjp); },
          "The equations of the cotangents of the operands at a sample call; empty without a derivative.")
      .def("explain", [](const Operation& o) { return to_text(explained(o)); }, "What `etalon explain` prints.")
      .def("_repr_html_", [](const Operation& o) { return to_html(explained(o)); })
      .def("__repr__", [](const Operation& o) { return std::string(o.definition().text); });
  module.def("op", &operation_of, py::arg("name"));
  module.def("define", &defined, py::arg("text"), py::arg("beside") = py::none());
  module.def("operations", &names);
  module.def("door", &answered);
}

}  // namespace etalon::python
