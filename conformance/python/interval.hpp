/// \file
/// What a contract admits of the answers to a request, and the verdict on one, for Python. Both are the suite's own.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/admissible.hpp"
#include "conformance/hull.hpp"
#include "conformance/outcome.hpp"
#include "conformance/python/contracts.hpp"
#include "conformance/python/others_run.hpp"
#include "conformance/question.hpp"
#include "spec/backend.hpp"

namespace etalon::python {

/// Elements of the tensors of a list of the answer, each by its indices; nothing for a tensor that is not there.
struct Asked {
  std::string list;
  std::vector<std::vector<std::vector<std::int64_t>>> indices;
};

class Interval {
 public:
  /// Without the interpreter's lock.
  /// \param at these elements alone, as lists
  /// \throws SpecViolation for an ill-typed request, and for an element that is not there
  Interval(spec::Request request, spec::Contract contract, const std::optional<Asked>& at = std::nullopt);

  /// Of a list of the answer (outputs, tangents, cotangents) lower ends, upper ends and flags per tensor; None where it
  /// has nothing.
  [[nodiscard]] pybind11::list ends(const std::string& list) const;
  /// The same in each way in which the definition lets it be computed.
  [[nodiscard]] pybind11::list ways(const std::string& list) const;
  /// The verdict on the tensors of a list; those of the others are taken to be right.
  [[nodiscard]] conformance::Outcome judge(const std::string& list, const pybind11::sequence& given) const;

 private:
  [[nodiscard]] conformance::Elements elements_of(const conformance::Question& question, const Asked& at) const;
  [[nodiscard]] conformance::Outcome judge_elements(std::vector<std::optional<HostTensor>> given) const;
  [[nodiscard]] pybind11::list ends_in(const std::string& wanted, const std::vector<conformance::Hull>& hulls) const;

  spec::Request request_;
  spec::Contract contract_;
  std::optional<conformance::Elements> wanted_;  ///< per tensor of the question
  std::vector<conformance::Hull> hulls_;
  std::vector<conformance::AnswerList> lists_;
};

/// What is admitted of the request that is made, without the interpreter's lock.
template <class MakeRequest>
[[nodiscard]] std::unique_ptr<Interval> interval_of(const MakeRequest& request, const std::string& contract,
                                                    const std::optional<Asked>& at = std::nullopt) {
  const OthersRun others_run;
  return std::make_unique<Interval>(request(), contract_of(contract), at);
}

void bind_interval(pybind11::module_& module);

}  // namespace etalon::python
