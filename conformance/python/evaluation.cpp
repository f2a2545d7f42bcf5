#include "conformance/python/evaluation.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/python/arrays.hpp"
#include "conformance/python/call.hpp"
#include "conformance/python/others_run.hpp"
#include "conformance/question.hpp"
#include "reference/answer.hpp"
#include "reference/exact_text.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;

[[nodiscard]] py::list arrays_of(std::vector<HostTensor> tensors) {
  py::list arrays;
  for (HostTensor& tensor : tensors) arrays.append(array_of(std::move(tensor)));
  return arrays;
}

[[nodiscard]] py::list arrays_of(std::vector<std::optional<HostTensor>> tensors) {
  py::list arrays;
  for (auto& tensor : tensors) arrays.append(tensor ? py::object(array_of(std::move(*tensor))) : py::none());
  return arrays;
}

[[nodiscard]] spec::Numbers rounded(const conformance::Case& call) {
  const OthersRun others_run;
  return reference::correctly_rounded(request_of(call));
}

/// Per tensor its kind, shape and elements as text; None where the list has nothing.
[[nodiscard]] py::list texts_of(const conformance::AnswerList& list, const reference::ExactTensors& exact) {
  py::list texts;
  std::size_t at = list.first;
  for (const bool present : list.present) {
    if (!present) {
      texts.append(py::none());
      continue;
    }
    const reference::ExactTensor& tensor = exact.outputs[at++];
    const std::vector<std::int64_t> shape(tensor.dims.begin(), tensor.dims.end());
    const char* kind = tensor.kind != Kind::real ? "integer" : exact.fractions ? "fraction" : "digits";
    texts.append(py::make_tuple(kind, py::tuple(py::cast(shape)), tensor.elements));
  }
  return texts;
}

[[nodiscard]] py::list exact(const conformance::Case& call, const std::string& wanted) {
  const auto [lists, texts] = [&] {
    const OthersRun others_run;
    conformance::Question question = conformance::question_of(request_of(call));
    return std::pair(question.lists, reference::exact_text(question.system, question.inputs));
  }();
  for (const conformance::AnswerList& list : lists) {
    if (list.name == wanted) return texts_of(list, texts);
  }
  return py::list();
}

[[nodiscard]] conformance::Case value_call(const py::object& op, const py::tuple& operands,
                                           const py::dict& attributes) {
  return call_of(operation_of(op), operands, attributes);
}

[[nodiscard]] conformance::Case jvp_call(const py::object& op, const py::tuple& operands, const py::sequence& tangents,
                                         const py::dict& attributes) {
  conformance::Case call = value_call(op, operands, attributes);
  ask_jvp(call, tangents);
  return call;
}

[[nodiscard]] conformance::Case vjp_call(const py::object& op, const py::tuple& operands, const py::object& cotangents,
                                         const py::dict& attributes) {
  conformance::Case call = value_call(op, operands, attributes);
  ask_vjp(call, cotangents);
  return call;
}

}  // namespace

void bind_evaluation(py::module_& module) {
  module.def("value", [](const py::object& op, const py::tuple& operands, const py::dict& attributes) {
    return arrays_of(rounded(value_call(op, operands, attributes)).outputs);
  });
  module.def("jvp", [](const py::object& op, const py::tuple& operands, const py::sequence& tangents,
                       const py::dict& attributes) {
    return arrays_of(rounded(jvp_call(op, operands, tangents, attributes)).tangents);
  });
  module.def("vjp", [](const py::object& op, const py::tuple& operands, const py::object& cotangents,
                       const py::dict& attributes) {
    return arrays_of(rounded(vjp_call(op, operands, cotangents, attributes)).cotangents);
  });
  module.def("exact_value", [](const py::object& op, const py::tuple& operands, const py::dict& attributes) {
    return exact(value_call(op, operands, attributes), "outputs");
  });
  module.def("exact_jvp", [](const py::object& op, const py::tuple& operands, const py::sequence& tangents,
                             const py::dict& attributes) {
    return exact(jvp_call(op, operands, tangents, attributes), "tangents");
  });
  module.def("exact_vjp", [](const py::object& op, const py::tuple& operands, const py::object& cotangents,
                             const py::dict& attributes) {
    return exact(vjp_call(op, operands, cotangents, attributes), "cotangents");
  });
}

}  // namespace etalon::python
