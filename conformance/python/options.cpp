#include "conformance/python/options.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/python/contracts.hpp"
#include "conformance/python/operation.hpp"
#include "spec/enumerator.hpp"
#include "spec/error.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;
using Words = std::vector<std::string>;

template <class T>
[[nodiscard]] T taken(const py::dict& given, const char* name, T otherwise) {
  return given.contains(name) && !given[name].is_none() ? given[name].cast<T>() : otherwise;
}

template <class E, std::size_t n>
[[nodiscard]] std::vector<E> named(const Words& words, const std::array<std::string_view, n>& names,
                                   std::string_view what) {
  std::vector<E> all;
  for (const std::string& word : words) all.push_back(enumerator_or_throw<E>(names, word, what));
  return all;
}

[[nodiscard]] DType dtype_or_throw(const std::string& word) {
  const auto dtype = dtype_named(word);
  if (!dtype) throw SpecViolation("dtypes: there is no element type '" + word + "'");
  return *dtype;
}

/// The operations, and the library of those that are the user's own.
void take_operations(conformance::ConformOptions& options, const py::dict& given) {
  if (!given.contains("ops")) return;
  for (const py::handle item : py::reinterpret_borrow<py::sequence>(given["ops"])) {
    const Operation operation = operation_of(item);
    options.operations.push_back(operation.name);
    if (!operation.library.added().empty()) options.library = operation.library;
  }
}

}  // namespace

conformance::ConformOptions options_of(const py::dict& given) {
  conformance::ConformOptions options;
  take_operations(options, given);
  options.backend_name = taken<std::string>(given, "name", "python");
  options.replay_line = taken<std::string>(given, "replay_line", "");
  options.modes = named<spec::Mode>(taken<Words>(given, "modes", {}), spec::mode_names, "mode");
  options.checks = named<conformance::Check>(taken<Words>(given, "checks", {}), conformance::check_names, "check");
  for (const std::string& word : taken<Words>(given, "dtypes", {})) {
    const DType dtype = dtype_or_throw(word);
    if (std::find(conformance::real_dtypes.begin(), conformance::real_dtypes.end(), dtype) !=
        conformance::real_dtypes.end())
      options.dtypes.push_back(dtype);
  }
  options.tier = enumerator_or_throw<conformance::Tier>(conformance::tier_names,
                                                        taken<std::string>(given, "tier", "quick"), "tier");
  options.seed = taken<std::uint64_t>(given, "seed", 1);
  if (const auto waivers = taken<std::string>(given, "waivers", ""); !waivers.empty())
    options.waivers = conformance::parse_waivers(waivers, "waivers", options.library);
  options.jobs = 1;  // the interpreter runs one thread at a time
  options.shrink_seconds = taken<double>(given, "shrink_seconds", options.shrink_seconds);
  options.most_explained = taken<std::size_t>(given, "most_explained", options.most_explained);
  return options;
}

spec::Description description_of(const py::dict& given) {
  spec::Description description;
  description.name = taken<std::string>(given, "name", "python");
  description.version = taken<std::string>(given, "version", "");
  for (const std::string& word : taken<Words>(given, "dtypes", {})) description.dtypes.push_back(dtype_or_throw(word));
  description.modes = named<spec::Mode>(taken<Words>(given, "modes", {"forward"}), spec::mode_names, "mode");
  description.contract = contract_of(taken<std::string>(given, "contract", "ieee"));
  Words operations;
  for (const py::handle item : py::reinterpret_borrow<py::sequence>(given["ops"]))
    operations.push_back(operation_of(item).name);
  description.operations = std::move(operations);
  description.rejects = taken<bool>(given, "rejects", false);
  description.layouts = taken<bool>(given, "layouts", true);
  description.deterministic = taken<bool>(given, "deterministic", true);
  description.running_attributes = false;
  return description;
}

}  // namespace etalon::python
