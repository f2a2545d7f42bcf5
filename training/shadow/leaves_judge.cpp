#include "training/shadow/leaves_judge.hpp"

#include <fmt/format.h>

#include <utility>

#include "training/leaves/sums.hpp"

namespace etalon::training {
namespace {

/// What another part of the same step came to, and its outputs.
Summands add(Judgement& all, Judgement part, const std::string& prefix) {
  all.elements += part.elements;
  all.undecided += part.undecided;
  for (const std::string& fault : part.faults) all.faults.push_back(prefix + fault);
  Summands outputs;
  for (auto& [name, value] : part.outputs) outputs.push_back(std::move(value));
  return outputs;
}

}  // namespace

LeavesJudge::LeavesJudge(std::vector<spec::Program> programs, std::int64_t leaves, const StepJudgeMaker& judges,
                         const std::shared_ptr<compiled::Device>& device)
    : programs_(std::move(programs)), leaves_(leaves), first_(judges(programs_.front(), device)) {
  if (programs_.size() == 1) return;
  of_sums_ = judges(sums_program(programs_.back(), leaves_), device);
  update_ = judges(programs_.back(), device);
}

/// Each leaf judged, and the sums of what they gave.
Named LeavesJudge::sums(const Inputs& inputs, Judgement& all) const {
  std::vector<Summands> terms;
  TreeSum tree(leaves_);
  for (std::int64_t leaf = 0; leaf < leaves_; ++leaf) {
    terms.push_back(add(all, first_(inputs(programs_.front(), leaf, {}), nullptr), fmt::format("leaf {}: ", leaf)));
    tree.add({{leaf, leaf + 1}, terms.back()});
  }
  const Summands root = tree.take_root();
  const std::vector<std::string> names = sums_of(programs_.back());
  Named claimed;
  for (std::size_t i = 0; i < names.size(); ++i) claimed.emplace(names[i], root.at(i));
  add(all, of_sums_(sums_inputs(terms, root), &claimed), "sum of the leaves: ");
  return claimed;
}

Judgement LeavesJudge::operator()(const Inputs& inputs, const Named* claimed) const {
  if (!update_) return first_(inputs(programs_.front(), 0, {}), claimed);
  Judgement all;
  const Named given = sums(inputs, all);
  Judgement last = update_(inputs(programs_.back(), 0, given), claimed);
  all.outputs = last.outputs;
  all.updated = std::move(last.updated);
  add(all, std::move(last), "update: ");
  return all;
}

}  // namespace etalon::training
