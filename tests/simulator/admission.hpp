/// \file
/// What is admitted of a run that may compute elements anew: per tensor its own envelope, or that of the equations whose
/// elements are computed anew, each as a whole, as `conformance::admit_schemas` has it.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "reference/bounds/envelope.hpp"
#include "tests/simulator/simulator.hpp"

namespace etalon::bounds_test {

/// The verdicts on all tensors of a run.
struct Judged {
  reference::Verdict worst;    ///< of the tensor with the largest ratio, its `output` set
  std::size_t comparisons = 0;
  std::size_t undecided = 0;
  std::size_t only_anew = 0;   ///< tensors outside their own envelope, admitted by the other
};

class Admission {
 public:
  Admission(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract, Elements elements)
      : own_(reference::envelopes(system, inputs, contract)) {
    if (elements == Elements::anew) {
      anew_ = reference::envelopes(reference::with_recomputed_elements(system), inputs, contract);
      for (std::size_t o = 0; o < own_.outputs.size(); ++o) decide(anew_->outputs[o], own_.outputs[o]);
    }
  }

  /// Without another schema the tensors are judged jointly.
  [[nodiscard]] Judged judge(std::span<const HostTensor> got) const {
    Judged all;
    if (!anew_) {
      all.worst = reference::judge(got, own_);
      all.comparisons = all.worst.comparisons;
      all.undecided = all.worst.undecided;
      return all;
    }
    for (std::size_t o = 0; o < got.size(); ++o) add(all, o, got[o]);
    return all;
  }

 private:
  /// Where the meaning decides, so must the schema.
  static void decide(reference::Envelope& schema, const reference::Envelope& meaning) {
    for (std::size_t i = 0; i < schema.flags.size(); ++i) {
      const bool open = (meaning.flags[i] & reference::undecided) != 0;
      if (!open) schema.flags[i] = reference::decided(schema.flags[i]);
    }
  }

  void add(Judged& all, std::size_t o, const HostTensor& got) const {
    reference::Verdict verdict = reference::judge(got, own_.outputs[o]);
    if (!verdict.passed()) {
      const reference::Verdict other = reference::judge(got, anew_->outputs[o]);
      if (other.passed()) ++all.only_anew;
      if (other.worst_ratio < verdict.worst_ratio) verdict = other;
    }
    verdict.output = o;
    all.comparisons += verdict.comparisons;
    all.undecided += verdict.undecided;
    if (o == 0 || verdict.worst_ratio > all.worst.worst_ratio || !verdict.message.empty()) all.worst = verdict;
  }

  reference::Envelopes own_;
  std::optional<reference::Envelopes> anew_;
};

}  // namespace etalon::bounds_test
