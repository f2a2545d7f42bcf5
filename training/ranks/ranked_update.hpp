/// \file
/// The end of a step whose leaves several processes have computed: each adds and updates the elements that it owns, and has the
/// others' from them. Which process does what changes no bit. It knows neither MPI nor which operation an update is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiled/runtime/store.hpp"
#include "training/guard.hpp"
#include "training/leaves/plan.hpp"
#include "training/leaves/tree_sum.hpp"
#include "training/outcome.hpp"
#include "training/ranks/ranks.hpp"
#include "training/ranks/slices.hpp"
#include "training/routine.hpp"
#include "training/target.hpp"

namespace etalon::training {

/// Nodes of the tree are cut into slices, and each slice goes to its owner, who adds by the tree. Where the update is one of
/// elements each on its own (elementwise_groups), owners update their slices of parameters and of what is kept beside them, and
/// hand out the parameters (Rajbhandari et al., 2020, ZeRO stage 1). Where it is not, owners hand out their slices of the sum, and
/// every rank updates everything.
class RankedUpdate {
 public:
  /// Of one rank, whose store the leaves read.
  struct Setting {
    std::shared_ptr<Ranks> ranks;
    const LeafPlan& plan;
    const spec::Program& leaf;    ///< reads the parameters that are handed out after each step
    const spec::Program& update;  ///< as update_program
    const Target& target;
    compiled::Store& store;
    const Guard& guard;  ///< of the update; where there is one, every rank updates everything
  };
  explicit RankedUpdate(const Setting& setting);
  RankedUpdate(const RankedUpdate&) = delete;
  RankedUpdate& operator=(const RankedUpdate&) = delete;

  /// \param leaves what this rank's leaves came to, and their nodes
  /// \returns that of the update, or of the first rank whose leaves did not complete: then nothing was updated
  [[nodiscard]] Outcome run(std::int64_t epoch, std::int64_t batch, Outcome leaves, const std::vector<SumNode>& nodes);
  /// Gives the store of every rank what owners keep to themselves between steps.
  void make_whole();
  /// From now on slices are of what the store has, which somebody else has written.
  void take_state();
  [[nodiscard]] const spec::Program& program() const { return program_; }

 private:
  struct Sum {
    std::string name;
    DType dtype;
    Dims dims;
  };
  [[nodiscard]] HostTensor owned(const Sum& sum) const;
  [[nodiscard]] std::vector<Bytes> for_owners(const std::vector<SumNode>& nodes) const;
  [[nodiscard]] Summands added(const std::vector<Bytes>& received) const;
  [[nodiscard]] std::vector<HostTensor> put_together(const std::vector<Sum>& of, Bytes own);
  void hand_out(const std::vector<Sum>& entries);
  [[nodiscard]] std::optional<Outcome> first_failure(const Outcome& own);

  std::shared_ptr<Ranks> ranks_;
  LeafPlan plan_;
  spec::Program program_;
  compiled::Store& store_;
  compiled::Store own_;  ///< of slices
  bool is_cut_ = false;
  std::unique_ptr<Slices> slices_;
  std::unique_ptr<Routine> update_;
  std::vector<Sum> sums_;                        ///< in the order of a leaf's outputs
  std::vector<Sum> state_;                       ///< entries of the store that the update reads
  std::vector<Sum> handed_out_, kept_, scalars_;  ///< those that it updates: read by leaves, kept by owners, equal everywhere
};

}  // namespace etalon::training
