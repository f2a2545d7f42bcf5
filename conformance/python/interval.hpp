/// \file
/// What a contract admits of the answers to a request, and the verdict on one, for Python. Both are the suite's own.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "conformance/hull.hpp"
#include "conformance/outcome.hpp"
#include "conformance/python/contracts.hpp"
#include "conformance/question.hpp"
#include "spec/backend.hpp"

namespace etalon::python {

class Interval {
 public:
  /// Without the interpreter's lock. \throws SpecViolation for an ill-typed request
  Interval(spec::Request request, spec::Contract contract);

  /// Of a list of the answer (outputs, tangents, cotangents) lower ends, upper ends and flags per tensor; None where it
  /// has nothing.
  [[nodiscard]] pybind11::list ends(const std::string& list) const;
  /// The same in each way in which the definition lets it be computed.
  [[nodiscard]] pybind11::list ways(const std::string& list) const;
  /// The verdict on the tensors of a list; those of the others are taken to be right.
  [[nodiscard]] conformance::Outcome judge(const std::string& list, const pybind11::sequence& given) const;

 private:
  [[nodiscard]] pybind11::list ends_in(const std::string& wanted, const std::vector<conformance::Hull>& hulls) const;

  spec::Request request_;
  spec::Contract contract_;
  std::vector<conformance::Hull> hulls_;
  std::vector<conformance::AnswerList> lists_;
};

/// What is admitted of the request that is made, without the interpreter's lock.
template <class MakeRequest>
[[nodiscard]] std::unique_ptr<Interval> interval_of(const MakeRequest& request, const std::string& contract) {
  const pybind11::gil_scoped_release others_run;
  return std::make_unique<Interval>(request(), contract_of(contract));
}

void bind_interval(pybind11::module_& module);

}  // namespace etalon::python
