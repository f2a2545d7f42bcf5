#include "conformance/python/suite.hpp"

#include <pybind11/stl.h>

#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/asking.hpp"
#include "conformance/cases.hpp"
#include "conformance/conform.hpp"
#include "conformance/offered_parts.hpp"
#include "conformance/plan.hpp"
#include "conformance/python/callable.hpp"
#include "conformance/python/options.hpp"
#include "conformance/python/others_run.hpp"
#include "conformance/reports/console.hpp"
#include "conformance/reports/json_lines.hpp"
#include "spec/error.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;
using conformance::Case;
using conformance::Record;
using conformance::Report;

/// A report, and what was printed of its failures.
struct Run {
  Report report;
  std::string failures;
  spec::Library library;
};

/// Does what holds a callable without the interpreter's lock.
template <class Work>
[[nodiscard]] auto without_lock(const Work& work) {
  const OthersRun others_run;
  return work();
}

/// The counterexamples among what a run prints: between its first lines and its table.
[[nodiscard]] std::string between(const std::string& printed, const Report& report) {
  std::ostringstream heading, table;
  write_heading(heading, report.header);
  write_table(table, report);
  std::string text = printed.substr(heading.str().size());
  if (text.ends_with(table.str())) text.resize(text.size() - table.str().size());
  return text;
}

[[nodiscard]] Run conform(const py::object& answer, const py::dict& description, const py::dict& given,
                          const py::object& on_record) {
  conformance::ConformOptions options = options_of(given);
  CallableBackend backend(answer, description_of(description));
  if (!on_record.is_none()) {
    options.on_record = [&on_record](const Record& record) {
      const py::gil_scoped_acquire lock;
      on_record(record);
    };
  }
  return without_lock([&] {
    std::ostringstream console;
    Run run{report_of(options, backend, console), "", options.library};
    run.failures = between(console.str(), run.report);
    return run;
  });
}

/// The case of an id, or of a file.
[[nodiscard]] Case case_named(const std::string& id, const spec::Library& library) {
  auto made = make_case(conformance::parse_id(id, library));
  if (!made) throw SpecViolation("there is no case " + id);
  return std::move(*made);
}

/// The verdict on one case.
[[nodiscard]] conformance::Outcome ask(const std::string& id, const py::object& answer, const py::dict& description,
                                       const py::dict& given) {
  const conformance::ConformOptions options = options_of(given);
  CallableBackend backend(answer, description_of(description));
  return without_lock([&] {
    const Case whole = case_named(id, options.library);
    conformance::Shared shared(backend);
    const spec::Description described = backend.describe();
    return check(offered_parts(whole, described).value_or(whole), shared, described.contract);
  });
}

/// What `etalon conform --replay` prints: the counterexample made small, or that there is none, and whether that is so.
[[nodiscard]] std::pair<bool, std::string> replay(const std::string& id, const py::object& answer, const py::dict& description,
                                 const py::dict& given) {
  conformance::ConformOptions options = options_of(given);
  options.replay = id;
  CallableBackend backend(answer, description_of(description));
  return without_lock([&] {
    std::ostringstream console;
    const int status = run_conform(options, backend, console);
    if (status == 2) throw SpecViolation(console.str());
    return std::pair(status == 0, console.str());
  });
}

/// The ids of the cases that a run begins with.
[[nodiscard]] std::vector<std::string> cases(const py::dict& description, const py::dict& given) {
  const conformance::ConformOptions options = options_of(given);
  const spec::Description described = description_of(description);
  const OthersRun others_run;
  std::vector<std::string> ids;
  for (const conformance::Unit& unit : offered(plan(options), described)) {
    conformance::Cases all(unit, options, &described);
    while (const auto next = all.next()) ids.push_back(id_of(next->key));
  }
  return ids;
}

/// What the command prints of a case: its numbers, and what is expected of it.
[[nodiscard]] std::string shown(const std::string& id, const py::dict& given) {
  const conformance::ConformOptions options = options_of(given);
  const OthersRun others_run;
  std::ostringstream console;
  (void)show_case(options, id, console);
  return console.str();
}

/// Of the failures the case that is the shortest way from a small one: of a single call, with the fewest elements.
[[nodiscard]] std::optional<std::string> smallest(const Run& run) {
  std::optional<std::string> found;
  std::pair<bool, std::size_t> least;
  for (const Record& record : run.report.records) {
    if (!is_bad(record.outcome.verdict)) continue;
    const auto made = make_case(conformance::parse_id(record.id, run.library));
    if (!made) continue;
    const std::pair<bool, std::size_t> size(made->program.has_value(), elements_of(*made));
    if (found && least <= size) continue;
    found = record.id;
    least = size;
  }
  return found;
}

template <void write(std::ostream&, const Report&)>
[[nodiscard]] std::string written(const Run& run) {
  std::ostringstream out;
  write(out, run.report);
  return out.str();
}

[[nodiscard]] std::string table(const Run& run) {
  std::ostringstream out;
  write_heading(out, run.report.header);
  write_table(out, run.report);
  return out.str();
}

[[nodiscard]] py::dict totals(const Run& run) {
  const conformance::Totals all = totals_of(run.report.records);
  py::dict counts;
  for (std::size_t v = 0; v < conformance::verdict_count; ++v)
    counts[py::str(std::string(conformance::verdict_names[v]))] = all.verdicts[v];
  counts["comparisons"] = all.comparisons;
  return counts;
}

}  // namespace

void bind_suite(py::module_& module) {
  py::class_<Record>(module, "Record", "What became of one case.")
      .def_readonly("id", &Record::id)
      .def_readonly("operation", &Record::operation)
      .def_readonly("mode", &Record::mode)
      .def_readonly("dtype", &Record::dtype)
      .def_readonly("check", &Record::check)
      .def_readonly("classes", &Record::classes)
      .def_readonly("outcome", &Record::outcome)
      .def_property_readonly("verdict", [](const Record& r) { return std::string(name_of(r.outcome.verdict)); })
      .def_property_readonly(
          "why",
          [](const Record& r) { return r.outcome.verdict == conformance::Verdict::pass ? "" : finding(r.outcome); })
      .def("__repr__", [](const Record& r) { return r.id + ": " + std::string(name_of(r.outcome.verdict)); });
  py::class_<Run>(module, "Run")
      .def_property_readonly("records", [](const Run& run) { return run.report.records; })
      .def_property_readonly("conforms", [](const Run& run) { return conclusion(run.report).conforms; })
      .def_property_readonly("conclusion", [](const Run& run) { return conclusion(run.report).text; })
      .def_property_readonly("smallest", &smallest)
      .def_property_readonly("totals", &totals)
      .def_readonly("failures", &Run::failures)
      .def("table", &table)
      .def("html", &written<conformance::write_html>)
      .def("junit", &written<conformance::write_junit>)
      .def("markdown", &written<conformance::write_markdown>)
      .def("json", &written<conformance::write_json_lines>);
  module.def("conform", &conform);
  module.def("ask", &ask);
  module.def("replay", &replay);
  module.def("cases", &cases);
  module.def("shown", &shown);
}

}  // namespace etalon::python
