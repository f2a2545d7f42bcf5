#include "conformance/python/interval.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/admissible.hpp"
#include "conformance/python/arrays.hpp"
#include "conformance/python/call.hpp"
#include "conformance/python/contracts.hpp"
#include "conformance/reports/report.hpp"
#include "reference/answer.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;
using conformance::AnswerList;
using conformance::Hull;

template <class T>
[[nodiscard]] py::array array_with(const Dims& dims, const std::vector<T>& values) {
  py::array_t<T> array(std::vector<py::ssize_t>(dims.begin(), dims.end()));
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

/// Lower and upper ends, and flags.
[[nodiscard]] py::tuple ends_of(const Hull& hull) {
  const bool real = kind_of(hull.dtype) == Kind::real;
  return py::make_tuple(real ? array_with(hull.dims, hull.lower) : array_with(hull.dims, hull.least),
                        real ? array_with(hull.dims, hull.upper) : array_with(hull.dims, hull.greatest),
                        array_with(hull.dims, hull.flags));
}

}  // namespace

Interval::Interval(spec::Request request, spec::Contract contract)
    : request_(std::move(request)), contract_(std::move(contract)) {
  const conformance::Admissible admissible(request_, contract_);
  hulls_ = admissible.hulls();
  lists_ = admissible.question().lists;
}

py::list Interval::ends(const std::string& list) const { return ends_in(list, hulls_); }

py::list Interval::ways(const std::string& list) const {
  const std::vector<reference::Envelopes> all = [&] {
    const py::gil_scoped_release others_run;
    return conformance::Admissible(request_, contract_).admitted();
  }();
  py::list found;
  for (const reference::Envelopes& way : all) found.append(ends_in(list, conformance::hulls_of(way)));
  return found;
}

conformance::Outcome Interval::judge(const std::string& list, const py::sequence& given) const {
  std::vector<std::optional<HostTensor>> tensors;
  for (const py::handle item : given)
    tensors.push_back(item.is_none()
                          ? std::nullopt
                          : std::optional(tensor_of(item, list + "[" + std::to_string(tensors.size()) + "]")));
  const py::gil_scoped_release others_run;
  spec::Numbers numbers = list == "outputs" ? spec::Numbers{} : reference::correctly_rounded(request_);
  if (list == "outputs") {
    for (auto& tensor : tensors) numbers.outputs.push_back(tensor ? std::move(*tensor) : HostTensor());
  } else {
    (list == "tangents" ? numbers.tangents : numbers.cotangents) = std::move(tensors);
  }
  return conformance::Admissible(request_, contract_).judge(numbers);
}

py::list Interval::ends_in(const std::string& wanted, const std::vector<Hull>& hulls) const {
  py::list found;
  for (const AnswerList& list : lists_) {
    if (list.name != wanted) continue;
    std::size_t at = list.first;
    for (const bool present : list.present) found.append(present ? py::object(ends_of(hulls[at++])) : py::none());
  }
  return found;
}

void bind_interval(py::module_& module) {
  using conformance::Outcome;
  py::class_<Outcome>(module, "Verdict", "What became of an answer.")
      .def_property_readonly(
          "verdict", [](const Outcome& o) { return std::string(name_of(o.verdict)); },
          "pass, fail, undecided, unsupported …")
      .def_property_readonly("passed", [](const Outcome& o) { return o.verdict == conformance::Verdict::pass; })
      .def_readonly("worst", &Outcome::worst_ratio, "The largest error over its bound: at most 1 for what passes.")
      .def_readonly("comparisons", &Outcome::comparisons)
      .def_readonly("undecided", &Outcome::undecided, "Comparisons where the bound says nothing useful.")
      .def_readonly("cause", &Outcome::cause)
      .def_property_readonly(
          "offender",
          [](const Outcome& o) { return o.offender ? std::optional(difference(*o.offender)) : std::nullopt; },
          "`y[3]: expected in [1, 2], got 3`, or None.")
      .def_property_readonly(
          "why", [](const Outcome& o) { return o.verdict == conformance::Verdict::pass ? "" : finding(o); },
          "One line, empty for a pass.")
      .def("__bool__", [](const Outcome& o) { return o.verdict == conformance::Verdict::pass; })
      .def("__repr__", [](const Outcome& o) {
        return std::string(name_of(o.verdict)) + (o.verdict == conformance::Verdict::pass ? "" : ": " + finding(o));
      });
  py::class_<Interval>(module, "Interval")
      .def("ends", &Interval::ends)
      .def("ways", &Interval::ways)
      .def("judge", &Interval::judge);
  module.def("interval", [](const py::object& op, const py::tuple& operands, const py::object& tangents,
                            const py::object& cotangents, const std::string& contract, const py::dict& attributes) {
    conformance::Case call = call_of(operation_of(op), operands, attributes);
    if (!tangents.is_none()) ask_jvp(call, tangents);
    if (!cotangents.is_none()) ask_vjp(call, cotangents);
    return interval_of([&call] { return request_of(call); }, contract);
  });
}

}  // namespace etalon::python
