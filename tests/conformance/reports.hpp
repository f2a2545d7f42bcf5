/// \file
/// A small report made by hand, for tests of formats.
#pragma once

#include <string>

#include "conformance/reports/report.hpp"

namespace etalon::tests {

/// What nobody should call a backend.
inline const std::string hostile = "<script>alert(1)</script> \"quoted\" 'single' & `code` | \x1B[31m \xFF\xFE ]]> \xEF\xBF\xBF ü";

[[nodiscard]] inline conformance::Record record(const std::string& operation, const std::string& check, int index,
                                                conformance::Verdict verdict) {
  conformance::Record r;
  r.operation = operation;
  r.check = check;
  r.mode = check == "jvp" || check == "vjp" ? check : "forward";
  r.dtype = "f32";
  r.id = operation + "." + check + ".f32.000" + std::to_string(index) + "@1-12345678";
  r.outcome.verdict = verdict;
  r.outcome.comparisons = 8;
  r.outcome.worst_ratio = verdict == conformance::Verdict::pass ? 0.25 * index : 3;
  r.case_json = R"({"operands":["f32[2]"],"attributes":{}})";
  return r;
}

/// Passes of relu and exp, one failure of exp with an offender and hostile words, one waived, one unsupported.
[[nodiscard]] inline conformance::Report sample_report() {
  using conformance::Verdict;
  conformance::Report report;
  report.header.backend = hostile;
  report.header.version = "1.0";
  report.header.command = "'exec:python3 my adapter.py'";
  report.header.contract_json = R"({"name":"ieee"})";
  report.header.contract_text = "ieee: rounding to nearest";
  report.header.tier = "quick";
  report.header.specification = "1234567890abcdef";
  report.header.operations_known = 200;
  report.header.selection.operations = {"exp", "relu"};
  report.equations = {{"exp", "exp(x[...]) -> y[...]\n  y[...] = exp(x[...])\n", {"x"}}};
  for (int i = 0; i < 4; ++i) report.records.push_back(record("exp", "value", i, Verdict::pass));
  report.records.push_back(record("exp", "vjp", 0, Verdict::fail));
  conformance::Record& wrong = report.records.back();
  wrong.outcome.why = hostile;
  wrong.outcome.worst_ratio = std::numeric_limits<double>::infinity();
  wrong.outcome.offender = conformance::Offender{"x~", 1, 0.1, 0.2, 0.3, "nan", DType::f32};
  wrong.case_json =
      R"({"id":"a","operands":[{"dtype":"f32","shape":[2],"values":[0.5,"nan"]}],"attributes":{"axis":-1},)"
      R"("wrt":[true],"tangents":[],"cotangents":[{"dtype":"f32","shape":[2],"values":[1,0]}]})";
  wrong.reproduction = "import torch  # " + hostile;
  report.records.push_back(record("exp", "vjp", 1, Verdict::waived));
  report.records.back().waived = conformance::Waived{hostile, "2031-01-01", Verdict::crashed};
  report.records.push_back(record("relu", "jvp", 0, Verdict::unsupported));
  report.records.push_back(record("relu", "value", 0, Verdict::pass));
  report.waivers = {{"exp", "vjp", "", "", hostile, "2031-01-01", 1}};
  report.seconds = 1.5;
  return report;
}

}  // namespace etalon::tests
