#include "conformance/python/attributes.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spec/error.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;

constexpr std::pair<std::string_view, std::string_view> dtype_words[] = {
    {"float16", "f16"}, {"bfloat16", "bf16"}, {"float32", "f32"}, {"float64", "f64"},
    {"int32", "i32"},   {"int64", "i64"},     {"bool", "bool"}};

[[nodiscard]] std::string class_of(py::handle value) {
  return py::str(py::type::handle_of(value).attr("__name__")).cast<std::string>();
}

/// The word of an element type that another library names; nothing for what is none.
[[nodiscard]] std::string word_of_dtype(py::handle value) {
  if (class_of(value).find("dtype") == std::string::npos) return "";
  std::string name = py::str(value).cast<std::string>();
  name = name.substr(name.find('.') + 1);
  for (const auto& [theirs, ours] : dtype_words) {
    if (name == theirs) return std::string(ours);
  }
  return name;
}

/// Whether it is an integer of whatever library, and no truth value.
[[nodiscard]] bool is_integer(py::handle value) {
  return PyLong_Check(value.ptr()) != 0 || (PyIndex_Check(value.ptr()) != 0 && !py::hasattr(value, "__len__"));
}

/// A number as a list holds it.
[[nodiscard]] spec::AttributeValue value_of(py::handle value, const std::string& name) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (is_integer(value)) return value.cast<std::int64_t>();
  if (PyFloat_Check(value.ptr()) != 0) return value.cast<double>();
  if (std::string word = word_of_dtype(value); !word.empty()) return word;
  if (!py::isinstance<py::sequence>(value) && py::hasattr(value, "__float__"))
    return py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>();
  throw py::type_error(fmt::format(
      "attribute {}: expected a number, a truth value, a word or a list of numbers, found {}", name, class_of(value)));
}

[[nodiscard]] spec::AttributeValue list_of(const py::sequence& list) {
  const bool integers = std::all_of(list.begin(), list.end(), [](py::handle item) { return is_integer(item); });
  if (integers) return list.cast<std::vector<std::int64_t>>();
  return list.cast<std::vector<double>>();
}

}  // namespace

spec::Attributes attributes_of(const py::dict& given) {
  spec::Attributes attributes;
  for (const auto& [key, value] : given) {
    std::string name = key.cast<std::string>();
    const bool is_list = py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
    try {
      attributes.emplace(name, is_list ? list_of(py::reinterpret_borrow<py::sequence>(value)) : value_of(value, name));
    } catch (const py::cast_error&) {
      throw py::type_error(fmt::format("attribute {}: expected numbers of 64 bits, found {}", name,
                                       py::repr(value).cast<std::string>()));
    }
  }
  return attributes;
}

py::dict keywords_of(const spec::Attributes& attributes) {
  py::dict keywords;
  for (const auto& [name, value] : attributes) {
    if (std::holds_alternative<spec::ValueName>(value))
      throw Unsupported("attribute: " + name + " from a value of the program");
    keywords[py::str(name)] = std::visit(
        [](const auto& held) -> py::object {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, spec::ValueName>)
            return py::none();
          else
            return py::cast(held);
        },
        value);
  }
  return keywords;
}

}  // namespace etalon::python
