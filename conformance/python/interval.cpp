#include "conformance/python/interval.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
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
#include "spec/error.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;
using conformance::AnswerList;
using conformance::Hull;
using Indices = decltype(Asked::indices);

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

/// Row-major; an index below 0 counts from the end of its axis.
[[nodiscard]] std::size_t position_of(const spec::TensorInfo& info, const std::vector<std::int64_t>& indices) {
  const std::string place = fmt::format("at: ({}) of {} : {}", fmt::join(indices, ", "), info.name,
                                        to_string(spec::ValueType{info.dtype, info.dims}));
  if (indices.size() != info.dims.rank)
    throw SpecViolation(fmt::format("{}: expected {} indices, found {}", place, info.dims.rank, indices.size()));
  std::int64_t position = 0;
  for (std::size_t a = 0; a < indices.size(); ++a) {
    const std::int64_t extent = info.dims[a], i = indices[a] < 0 ? indices[a] + extent : indices[a];
    if (i < 0 || i >= extent)
      throw SpecViolation(fmt::format("{}: expected an index below {} in axis {}, found {}", place, extent, a, indices[a]));
    position = position * extent + i;
  }
  return static_cast<std::size_t>(position);
}

}  // namespace

Interval::Interval(spec::Request request, spec::Contract contract, const std::optional<Asked>& at)
    : request_(std::move(request)), contract_(std::move(contract)) {
  const conformance::Admissible admissible(request_, contract_);
  lists_ = admissible.question().lists;
  if (at) wanted_ = elements_of(admissible.question(), *at);
  hulls_ = wanted_ ? admissible.hulls(*wanted_) : admissible.hulls();
}

conformance::Elements Interval::elements_of(const conformance::Question& question, const Asked& at) const {
  conformance::Elements wanted(question.system.outputs.size());
  const auto list = std::find_if(lists_.begin(), lists_.end(), [&](const AnswerList& l) { return l.name == at.list; });
  if (list == lists_.end()) throw InternalError("at: no list of " + at.list);
  const auto take = [&](std::size_t tensor, const std::vector<std::vector<std::int64_t>>& all) {
    const spec::TensorInfo& info = question.system[question.system.outputs[tensor]];
    for (const auto& indices : all) wanted[tensor].push_back(position_of(info, indices));
  };
  const auto count = std::count(list->present.begin(), list->present.end(), true);
  if (count == 1 && at.indices.size() == 1) {
    take(list->first, at.indices[0]);
    return wanted;
  }
  if (at.indices.size() != list->present.size())
    throw SpecViolation(fmt::format("at: expected a tuple of {} lists of indices, found {}", list->present.size(),
                                    at.indices.size() == 1 ? "one list" : fmt::format("{}", at.indices.size())));
  std::size_t tensor = list->first;
  for (std::size_t t = 0; t < at.indices.size(); ++t) {
    if (list->present[t]) take(tensor++, at.indices[t]);
  }
  return wanted;
}

py::list Interval::ends(const std::string& list) const { return ends_in(list, hulls_); }

py::list Interval::ways(const std::string& list) const {
  const std::vector<std::vector<Hull>> all = [&] {
    const OthersRun others_run;
    const conformance::Admissible admissible(request_, contract_);
    if (wanted_) return admissible.ways_of_elements(*wanted_);
    std::vector<std::vector<Hull>> boxes;
    for (const reference::Envelopes& way : admissible.admitted()) boxes.push_back(conformance::hulls_of(way));
    return boxes;
  }();
  py::list found;
  for (const std::vector<Hull>& way : all) found.append(ends_in(list, way));
  return found;
}

conformance::Outcome Interval::judge(const std::string& list, const py::sequence& given) const {
  std::vector<std::optional<HostTensor>> tensors;
  for (const py::handle item : given)
    tensors.push_back(item.is_none()
                          ? std::nullopt
                          : std::optional(tensor_of(item, list + "[" + std::to_string(tensors.size()) + "]")));
  const OthersRun others_run;
  if (wanted_) return judge_elements(std::move(tensors));
  spec::Numbers numbers = list == "outputs" ? spec::Numbers{} : reference::correctly_rounded(request_);
  if (list == "outputs") {
    for (auto& tensor : tensors) numbers.outputs.push_back(tensor ? std::move(*tensor) : HostTensor());
  } else {
    (list == "tangents" ? numbers.tangents : numbers.cotangents) = std::move(tensors);
  }
  return conformance::Admissible(request_, contract_).judge(numbers);
}

conformance::Outcome Interval::judge_elements(std::vector<std::optional<HostTensor>> given) const {
  const conformance::Admissible admissible(request_, contract_);
  const conformance::Question& question = admissible.question();
  std::vector<HostTensor> lists;
  std::size_t next = 0;
  for (std::size_t o = 0; o < question.system.outputs.size(); ++o) {
    const bool is_asked = !(*wanted_)[o].empty();
    while (is_asked && next < given.size() && !given[next]) ++next;
    if (is_asked && next < given.size()) lists.push_back(std::move(*given[next++]));
    else lists.emplace_back(question.system[question.system.outputs[o]].dtype, Dims{0});
  }
  return admissible.judge(lists, *wanted_);
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
                            const py::object& cotangents, const std::string& contract, const py::dict& attributes,
                            const std::optional<Indices>& at) {
    conformance::Case call = call_of(operation_of(op), operands, attributes);
    if (!tangents.is_none()) ask_jvp(call, tangents);
    if (!cotangents.is_none()) ask_vjp(call, cotangents);
    const std::string list = !cotangents.is_none() ? "cotangents" : !tangents.is_none() ? "tangents" : "outputs";
    return interval_of([&call] { return request_of(call); }, contract, at ? std::optional(Asked{list, *at}) : std::nullopt);
  });
  module.def("shapes", [](const py::object& op, const py::tuple& operands, const py::dict& attributes) {
    py::list shapes;
    for (const spec::ValueType& result : result_types(call_of(operation_of(op), operands, attributes)))
      shapes.append(py::tuple(py::cast(std::vector<std::int64_t>(result.dims.begin(), result.dims.end()))));
    return shapes;
  });
}

}  // namespace etalon::python
