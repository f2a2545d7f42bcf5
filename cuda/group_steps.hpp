/// \file
/// The steps of a kernel as a group of threads does them together, in CUDA C++: a loop in lanes gives each thread every so many-th
/// element, chains of a reduction are threads' too and are joined in the order of its tree, and what stands outside of lanes
/// is done by all threads alike, but stored by one. It knows no launch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiled/emit/text/nests.hpp"
#include "cuda/grid.hpp"
#include "cuda/part_steps.hpp"
#include "cuda/split.hpp"

namespace etalon::cuda {

class GroupSteps : public compiled::source::Steps {
 public:
  /// \param joining of the reduction that another kernel has done in parts, or null
  GroupSteps(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, const Grid& grid, std::string_view index, const Joining* joining);

  /// Declares which thread of its group one is, and where the group's memory lies.
  /// \param arena points to what blocks have of their own, where it is not in memory that they share
  void begin(const compiled::loops::Nest& nest, const std::string& arena);
  /// All threads of the group have come so far, and see what the others wrote.
  void wait();

  /// The group among all of the grid, and how many there are.
  [[nodiscard]] std::string number() const;
  [[nodiscard]] std::string count() const;

 protected:
  using Loop = compiled::loops::Loop;
  using Reduce = compiled::loops::Reduce;
  using Step = compiled::loops::Step;

  [[nodiscard]] Walk walk_of(const Loop& loop) const override;
  [[nodiscard]] std::pair<std::string, std::string> stretch_of(const Reduce& r) const override;
  using Steps::step;
  void step(const Loop& loop, const Step& s) override;
  void step(const Reduce& r, const Step& s) override;
  void step(const compiled::loops::Store& store, const Step& s) override;
  void step(const compiled::loops::Define& d, const Step& s) override;
  void step(const compiled::loops::Contract& c, const Step& s) override;

 private:
  void before_writing();
  void declare_own(const compiled::loops::Nest& nest, const std::string& arena);
  [[nodiscard]] bool is_block() const { return group_ > warp; }
  void in_warps(const Loop& loop, const Step& s);
  [[nodiscard]] std::string shared_at(std::int64_t offset, std::string_view type) const;
  void chains(const Reduce& r, const Step& s, const Partial& result);
  void single_chain(const Reduce& r, const Step& s, const Partial& result);
  [[nodiscard]] bool has_terms(const Reduce& r, const Step& s) const;
  void chain_of_terms(const Reduce& r, const Step& s, const Partial& result);
  void found_chain(const Reduce& r, const Partial& result);
  void several_chains(const Reduce& r, const Step& s, const Partial& result, std::int64_t each);
  void add_up_alone(const Reduce& r, const Step& s, Partial& partial);
  void join(spec::Reduction reduction, compiled::loops::Type type, const std::string& value, std::int64_t chains);
  void join_in_warp(spec::Reduction reduction, compiled::loops::Type type, const std::string& value, std::int64_t chains);
  void join_in_block(spec::Reduction reduction, compiled::loops::Type type, const std::string& value);
  [[nodiscard]] std::string joined_parts(compiled::loops::Type type, const std::string& values, const std::string& chain);

  const Grid& grid_;
  std::int64_t group_;          ///< threads that work together where the text stands
  std::string thread_;          ///< which of its group a thread is
  const compiled::loops::Nest* nest_ = nullptr;
  const Loop* in_warps_ = nullptr;  ///< whose turns are warps'
  std::string first_warp_turn_;
  std::string shared_;          ///< memory that the block shares
  bool alone_ = false;          ///< inside of lanes: threads do different things
  bool may_read_ = true;        ///< some thread may still read what was read since all waited: nobody may write over it
  std::string chain_;           ///< in a reduction: which chain is taken
  Team team_{};                 ///< the same
  std::string stretch_begin_;   ///< of a chain in parts: the turns that a thread takes
  std::string stretch_end_;
  Parts parts_{};               ///< of a chain
  const Joining* joining_;
};

}  // namespace etalon::cuda
