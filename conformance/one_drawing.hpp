/// \file
/// One draw of an assignment, for drawing*.cpp alone; most draws of a constrained definition are refused by typing and drawn again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/attribute_levels.hpp"
#include "conformance/broadcasting.hpp"
#include "conformance/drawing.hpp"

namespace etalon::conformance {

/// Choices for a call, made one after the other: later ones follow earlier ones where the definition ties them.
class Drawing {
 public:
  Drawing(const spec::Definition& d, const Names& names, const TurnLevels& levels, Draw& draw, const SizeWish& wish)
      : d_(d), names_(names), levels_(levels), draw_(draw), wish_(wish) {}

  Assignment run();

 private:
  void packs();
  void ranks();

  /// The rows for whose axes a list has numbers.
  std::vector<std::string> listed_rows() const;
  void rank_joined();

  /// The attribute that has its level surely; where it cannot, another one in its place.
  [[nodiscard]] bool is_first(std::size_t attribute) const;
  void reach_axes();
  std::int64_t axis_limit();
  std::int64_t extent();
  std::int64_t beside_width();

  [[nodiscard]] bool is_deep() const { return wish_.deep && wish_.insistence >= 1; }

  [[nodiscard]] bool cube() const { return wish_.turn && !wish_.edges && wish_.elements > 1 && *wish_.turn % 4 == 1; }

  void rows_and_extents();
  std::int64_t long_extent();
  void lengthen();
  void joins();
  void fit();
  void shift();
  void exact_types();
  bool at_level(const spec::AttributeText& attribute);
  void attribute(const spec::AttributeText& attribute);
  double real_attribute(const spec::AttributeText& attribute);
  std::int64_t integer_attribute(const spec::AttributeText& attribute);
  static bool parse(std::string_view text, double& value);
  void places();
  void place(spec::NodeId axes, const std::string& attribute);

  /// Where an axis has a level in this turn, and there is one.
  bool placed_at_level(const std::string& name, std::int64_t rank);
  void list_attribute(const spec::AttributeText& attribute);
  std::int64_t window_number(std::int64_t extent, bool required);
  std::vector<std::int64_t> reshaped();
  void satisfy(spec::NodeId condition);
  bool assign(spec::NodeId to, spec::NodeId from);
  bool divisible(spec::NodeId left, spec::NodeId right);
  void optional_operands();

  const spec::Definition& d_;
  const Names& names_;
  const TurnLevels& levels_;
  Draw& draw_;
  const SizeWish& wish_;
  Assignment a_;
  std::map<std::string, std::size_t> rank_;
  std::vector<std::string> free_rows_;
  std::set<std::string> placed_;
  std::size_t members_ = 1;
  std::int64_t limit_ = 4;
  std::optional<BroadcastTurn> broadcast_;
  bool apart_ = false;   // integers that say how many elements there are lie far from each other
  bool signed_ = false;  // steps and bounds are often negative
};

}  // namespace etalon::conformance
