#include "conformance/python/callable.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/python/arrays.hpp"
#include "conformance/python/attributes.hpp"
#include "conformance/python/others_run.hpp"
#include "conformance/python/strided.hpp"
#include "spec/error.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;
using spec::Refusal;
using Tensors = std::vector<std::optional<HostTensor>>;
using Places = std::vector<std::optional<spec::Placement>>;

/// A list of arrays, and the tensors that they show.
struct Given {
  py::list arrays;
  std::vector<const HostTensor*> tensors;  ///< of the request; null for None

  void add(const HostTensor* tensor, const spec::Placement* place) {
    tensors.push_back(tensor);
    arrays.append(tensor == nullptr  ? py::object(py::none())
                  : place == nullptr ? py::object(array_of(*tensor))
                                     : py::object(array_of(*tensor, *place)));
  }

  /// The position of an array that is not what it was.
  [[nodiscard]] std::optional<std::size_t> changed() const {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i] == nullptr) continue;
      const auto array = py::reinterpret_borrow<py::array>(arrays[i]);
      Strided now{tensors[i]->dtype,
                  tensors[i]->dims,
                  {array.strides(), array.strides() + array.ndim()},
                  static_cast<const std::byte*>(array.data())};
      if (dense_of(now).bytes != tensors[i]->bytes) return i;
    }
    return std::nullopt;
  }
};

[[nodiscard]] Given given(const Tensors& tensors, const Places& places) {
  Given list;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    list.add(tensors[i] ? &*tensors[i] : nullptr, i < places.size() && places[i] ? &*places[i] : nullptr);
  return list;
}

[[nodiscard]] Given given(const std::vector<HostTensor>& tensors, const Places& places) {
  Given list;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    list.add(&tensors[i], i < places.size() && places[i] ? &*places[i] : nullptr);
  return list;
}

[[nodiscard]] py::list calls_of(const spec::Program& program) {
  py::list calls;
  for (const auto& step : program.steps) {
    const auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr) throw Unsupported("request: programs of calls only");
    py::dict one;
    one["operation"] = call->operation;
    one["operands"] = call->operands;
    one["packs"] = call->packs;
    one["attributes"] = keywords_of(call->attributes);
    one["results"] = call->results;
    calls.append(one);
  }
  return calls;
}

[[nodiscard]] std::vector<std::string> dtype_names(const std::vector<HostTensor>& tensors) {
  std::vector<std::string> names;
  for (const HostTensor& tensor : tensors) names.emplace_back(name_of(tensor.dtype));
  return names;
}

[[nodiscard]] std::vector<std::string> input_names(const spec::Program& program) {
  std::vector<std::string> names;
  for (const spec::Input& input : program.inputs) names.push_back(input.name);
  return names;
}

/// The question, and what it gives away.
struct Question {
  py::dict asked;
  std::vector<std::pair<std::string, Given>> lists;

  explicit Question(const spec::Request& request) {
    asked["mode"] = std::string(name_of(request.mode));
    asked["calls"] = calls_of(request.program);
    asked["names"] = input_names(request.program);
    asked["dtypes"] = dtype_names(request.inputs);
    asked["outputs"] = request.program.outputs;
    asked["wrt"] = request.wrt;
    add("inputs", given(request.inputs, request.placements.inputs));
    add("tangents", given(request.tangents, request.placements.tangents));
    add("cotangents", given(request.cotangents, request.placements.cotangents));
    add("cotangent_tangents", given(request.cotangent_tangents, request.placements.cotangent_tangents));
  }

  void add(const char* name, Given list) {
    asked[name] = list.arrays;
    lists.emplace_back(name, std::move(list));
  }

  /// Which array the callable has written to.
  [[nodiscard]] std::optional<std::string> changed(const spec::Request& request) const {
    for (const auto& [name, list] : lists) {
      const auto at = list.changed();
      if (!at) continue;
      return name == "inputs" ? "operand " + request.program.inputs.at(*at).name : fmt::format("{}[{}]", name, *at);
    }
    return std::nullopt;
  }
};

[[nodiscard]] Tensors tensors_in(const py::dict& reply, const char* name) {
  Tensors tensors;
  if (!reply.contains(name)) return tensors;
  std::size_t at = 0;
  for (const py::handle item : py::reinterpret_borrow<py::sequence>(reply[name])) {
    tensors.push_back(item.is_none() ? std::nullopt : std::optional(tensor_of(item, fmt::format("{}[{}]", name, at))));
    ++at;
  }
  return tensors;
}

[[nodiscard]] spec::Numbers numbers_in(const py::dict& reply) {
  spec::Numbers numbers;
  for (auto& output : tensors_in(reply, "outputs")) {
    if (!output) throw py::type_error("outputs: expected an array each, found None");
    numbers.outputs.push_back(std::move(*output));
  }
  numbers.tangents = tensors_in(reply, "tangents");
  if (reply.contains("cotangent_tangents")) numbers.tangents = tensors_in(reply, "cotangent_tangents");
  numbers.cotangents = tensors_in(reply, "cotangents");
  return numbers;
}

/// `ValueError: what it says, at kernel.py:12`: the first line alone, and where it was raised.
[[nodiscard]] std::string words_of(const py::error_already_set& error) {
  std::string text =
      py::str(error.type().attr("__name__")).cast<std::string>() + ": " + py::str(error.value()).cast<std::string>();
  text = text.substr(0, text.find('\n'));
  if (error.trace()) {
    const py::list frames = py::module_::import("traceback").attr("extract_tb")(error.trace());
    const py::object last = frames[py::len(frames) - 1];
    text += fmt::format(", at {}:{}", py::str(last.attr("filename")).cast<std::string>(),
                        py::str(last.attr("lineno")).cast<std::string>());
  }
  return text;
}

[[nodiscard]] Refusal refusal_of(const py::error_already_set& error) {
  if (error.matches(PyExc_NotImplementedError)) {
    const py::object why = error.value();
    std::string what = py::hasattr(why, "what") ? py::str(why.attr("what")).cast<std::string>() : "request";
    const std::string text = py::str(why).cast<std::string>();
    return {Refusal::Kind::unsupported, text.substr(0, text.find('\n')), std::move(what)};
  }
  return {Refusal::Kind::error, words_of(error), {}};
}

[[nodiscard]] spec::Answer asked(const py::object& answer, const spec::Request& request) {
  const Question question(request);
  const py::dict reply = answer(question.asked);
  spec::Numbers numbers = numbers_in(reply);
  if (const auto which = question.changed(request))
    return Refusal{Refusal::Kind::error, "it wrote to its " + *which, {}};
  return numbers;
}

}  // namespace

CallableBackend::CallableBackend(py::object answer, spec::Description description)
    : answer_(std::move(answer)), description_(std::move(description)) {}

spec::Answer CallableBackend::run(const spec::Request& request) {
  const py::gil_scoped_acquire lock;
  try {
    handle_signals();
    return asked(answer_, request);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw Interrupted{std::make_shared<py::error_already_set>(error)};
    return refusal_of(error);
  } catch (const Unsupported& error) {
    return Refusal{Refusal::Kind::unsupported, error.what(), "request"};
  } catch (const std::exception& error) {
    return Refusal{Refusal::Kind::error, error.what(), {}};
  }
}

}  // namespace etalon::python
