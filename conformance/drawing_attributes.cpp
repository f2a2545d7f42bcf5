#include "conformance/one_drawing.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace etalon::conformance {

using spec::AttributeKind;
using spec::NodeForm;
using spec::NodeId;

bool Drawing::is_first(std::size_t attribute) const {
  // Levels come again after some turns: were it the same attribute's turn again, those of others would never be sure.
  constexpr std::uint64_t before_shift = 6;
  const std::uint64_t turn = *wish_.turn + *wish_.turn / before_shift + wish_.passed_over;
  return wish_.insistence > 0 && attribute == turn % d_.attribute_count;
}

// Who reads nothing has its numbers from attributes: two far from 0 lie no further apart.
void Drawing::shift() {
  std::vector<std::int64_t*> all;
  for (auto& [name, value] : a_.attributes) {
    if (auto* number = std::get_if<std::int64_t>(&value)) all.push_back(number);
  }
  if (all.size() < 2) return;
  const std::int64_t by = draw_.pick(std::vector<std::int64_t>{(1 << 24) - 2, (std::int64_t{1} << 31) - 2, (std::int64_t{1} << 53) - 1, -(1 << 24) - 2, (std::int64_t{1} << 53) + 6});
  const auto one = static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(all.size()) - 1));
  const std::size_t other = (one + 1) % all.size();
  *all[one] += by;
  *all[other] += by;
}

// Integers that no double holds are of the type that holds them.
void Drawing::exact_types() {
  const bool wide = std::any_of(a_.attributes.begin(), a_.attributes.end(), [](const auto& named) {
    const auto* value = std::get_if<std::int64_t>(&named.second);
    return value != nullptr && *value > std::int64_t{1} << 53;
  });
  for (std::size_t i = 0; wide && i < d_.attribute_count; ++i) {
    if (d_.attributes[i].kind == AttributeKind::dtype) a_.attributes[std::string(d_.at(d_.attributes[i].name))] = std::string(name_of(DType::i64));
  }
}

bool Drawing::at_level(const spec::AttributeText& attribute) {
  if (!wish_.turn) return false;
  const auto place = static_cast<std::size_t>(&attribute - d_.attributes);
  const auto& level = levels_[place];
  if (!level) return false;
  if (!is_first(place) && !draw_.chance(wish_.insistence)) return false;
  a_.attributes[std::string(d_.at(attribute.name))] = *level;
  return true;
}

void Drawing::attribute(const spec::AttributeText& attribute) {
  if (at_level(attribute)) return;
  const std::string name = std::string(d_.at(attribute.name));
  if (!attribute.row.length && !attribute.pack && attribute.has_default && wish_.defaults && draw_.chance(0.35)) return;
  switch (attribute.kind) {
    case AttributeKind::boolean:
    case AttributeKind::symbol:
    case AttributeKind::dtype:  // their levels are all that they can be
      if (const auto levels = levels_of(d_, attribute); !levels.empty()) a_.attributes[name] = draw_.pick(levels).value;
      break;
    case AttributeKind::real:
      a_.attributes[name] = real_attribute(attribute);
      break;
    case AttributeKind::value:  // 0 and 1 suit every element type
      if (draw_.chance(0.6)) a_.attributes[name] = draw_.integer(0, 1);
      else a_.attributes[name] = real_attribute(attribute);
      break;
    case AttributeKind::integer:
      if (!attribute.pack && !attribute.row.length) a_.attributes[name] = integer_attribute(attribute);
      break;
    default:
      break;
  }
}

// Defaults and other round numbers are levels; what is drawn between 0 and 1 beside them mostly has digits that no short text holds.
double Drawing::real_attribute(const spec::AttributeText& attribute) {
  double usual = 0;
  const bool known = attribute.has_default && parse(d_.at(attribute.value), usual);
  const double u = std::ldexp(std::floor(draw_.uniform() * 1024), -10);
  if (!known) return draw_.pick(std::vector<double>{0.1, 0.01, 0.001, 0.5, u});
  if (usual == 0) return draw_.pick(std::vector<double>{0.0, 0.1, 0.01, u});
  // What has no end by default: on both sides of 0, so that two draws may lie apart.
  if (std::isinf(usual)) return draw_.pick(std::vector<double>{usual, -2.0, -0.5, 0.0, u, 1.0, 3.0});
  if (usual > 0 && usual < 1)
    return draw_.pick(std::vector<double>{usual * (0.5 + u / 2), usual * usual, std::sqrt(usual), u / 2, u / 3});
  return draw_.pick(std::vector<double>{usual, usual * (0.5 + u), 1.0, usual / 4});
}

std::int64_t Drawing::integer_attribute(const spec::AttributeText& attribute) {
  double usual = 0;
  if (attribute.has_default && parse(d_.at(attribute.value), usual) && draw_.chance(0.3)) {
    return static_cast<std::int64_t>(usual);
  }
  // Nothing but such numbers says how many elements there are.
  if (d_.operand_count == 0 && apart_) return draw_.integer(-9, 9);
  if (draw_.chance(0.15)) return draw_.integer(-2, 0);
  return draw_.integer(1, 4);
}

bool Drawing::parse(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// Attributes that place axes: positions in the operand (or result) that they stand in.
void Drawing::places() {
  for (const auto& [attribute, row] : names_.placed) {
    if (placed_.contains(attribute)) continue;
    for (std::size_t i = 0; i < d_.operand_count + d_.result_count && !placed_.contains(attribute); ++i) {
      place(i < d_.operand_count ? d_.operands[i].axes : d_.results[i - d_.operand_count].axes, attribute);
    }
  }
}

void Drawing::place(NodeId axes, const std::string& attribute) {
  NodeId placed = -1;
  bool alone = true;
  for (NodeId item = axes; item >= 0; item = d_[item].next) {
    if (d_[item].form == NodeForm::placed && d_.at(item) == attribute) {
      placed = d_[item].first;
    } else {
      alone = false;
    }
  }
  const auto rank = rank_of_axes(d_, axes, a_);
  if (placed < 0 || !rank) return;
  placed_.insert(attribute);
  const bool is_row = d_[placed].form == NodeForm::row;
  if (!is_row && placed_at_level(attribute, static_cast<std::int64_t>(*rank))) return;
  const std::size_t wanted = is_row ? a_.rows[row_key(d_.at(placed))].size() : 1;
  std::vector<std::int64_t> all;
  for (std::size_t k = 0; k < *rank; ++k) all.push_back(static_cast<std::int64_t>(k));
  std::vector<std::int64_t> chosen;
  while (chosen.size() < wanted && !all.empty()) {
    const auto at = static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(all.size()) - 1));
    chosen.push_back(all[at]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  // Where extents agree nothing but the numbers tells that axes are out of order.
  if (!alone && cube()) std::sort(chosen.rbegin(), chosen.rend());
  else if (!alone && draw_.chance(0.7)) std::sort(chosen.begin(), chosen.end());
  // An order of all axes that is not its own inverse; in turns, which do not change places with it.
  if (alone && wanted >= 3 && draw_.chance(wish_.defaults ? 0.8 : 0.5)) {
    std::sort(chosen.begin(), chosen.end());
    const std::int64_t by = draw_.integer(1, static_cast<std::int64_t>(wanted) - 1);
    std::rotate(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(2 * by == static_cast<std::int64_t>(wanted) ? 1 : by), chosen.end());
  }
  for (std::int64_t& position : chosen) {
    if (draw_.chance(0.3)) position -= static_cast<std::int64_t>(*rank);
  }
  if (is_row) {
    a_.attributes[attribute] = chosen;
  } else if (!chosen.empty()) {
    a_.attributes[attribute] = chosen.front();
  }
}

bool Drawing::placed_at_level(const std::string& name, std::int64_t rank) {
  for (std::size_t i = 0; i < d_.attribute_count; ++i) {
    if (d_.at(d_.attributes[i].name) != name || !at_level(d_.attributes[i])) continue;
    const auto* axis = std::get_if<std::int64_t>(&a_.attributes[name]);
    return axis != nullptr && *axis >= -rank && *axis < rank;
  }
  return false;
}

void Drawing::list_attribute(const spec::AttributeText& attribute) {
  const std::string name = std::string(d_.at(attribute.name));
  if (placed_.contains(name)) return;
  if (attribute.pack) {
    std::vector<std::int64_t> list;
    for (std::size_t m = 0; m < members_; ++m) list.push_back(draw_.integer(wish_.edges ? 0 : 1, 3));
    a_.attributes[name] = list;
    return;
  }
  const bool lists = attribute.kind == AttributeKind::integers || attribute.row.length != 0;
  if (!lists) return;
  if (attribute.has_default && wish_.defaults && draw_.chance(0.35)) return;
  const std::string row = row_key(std::string(d_.at(attribute.row)));
  const auto known = a_.rows.find(row);
  if (known == a_.rows.end() || attribute.row.length == 0) {
    a_.attributes[name] = reshaped();
    return;
  }
  std::vector<std::int64_t> list;
  for (std::size_t k = 0; k < known->second.size(); ++k)
    list.push_back(window_number(known->second[k], !attribute.has_default));
  a_.attributes[name] = list;
}

// A stride, a window, a padding, or the bound of a slice.
std::int64_t Drawing::window_number(std::int64_t extent, bool required) {
  if (draw_.chance(signed_ ? 0.8 : 0.15)) return draw_.integer(signed_ ? -3 : -extent - 1, extent + 1);
  if (required && draw_.chance(0.4)) return extent;
  if (draw_.chance(0.3)) return draw_.integer(0, std::max<std::int64_t>(extent, 1));
  return draw_.integer(0, 3);
}

// A shape that holds as many elements as the first operand, or one that it broadcasts to.
std::vector<std::int64_t> Drawing::reshaped() {
  const auto first = d_.operand_count > 0 ? extents_of_axes(d_, d_.operands[0].axes, a_) : std::nullopt;
  std::vector<std::int64_t> shape = first.value_or(std::vector<std::int64_t>{});
  if (!first || d_.operands[0].range == spec::Range::integer) {
    const std::int64_t axes = draw_.integer(0, 3);
    limit_ = static_cast<std::int64_t>(
        1.5 * std::pow(static_cast<double>(wish_.elements), 1.0 / static_cast<double>(axes + 1)));
    limit_ = std::max<std::int64_t>(limit_, 2);
    for (std::int64_t k = 0; k < axes; ++k) shape.push_back(extent());
    return shape;
  }
  if (draw_.chance(0.4)) {
    for (std::int64_t& e : shape) e = e == 1 && draw_.chance(0.7) ? draw_.integer(1, 4) : e;
    for (std::int64_t k = draw_.integer(0, 2); k > 0; --k) shape.insert(shape.begin(), draw_.integer(1, 3));
    return shape;
  }
  while (shape.size() > 1 && draw_.chance(0.6)) {
    const auto at = static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(shape.size()) - 2));
    shape[at] *= shape[at + 1];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  for (std::size_t at = 0; at < shape.size() && shape.size() < 4; ++at) {
    for (const std::int64_t factor : {2, 3, 5}) {
      if (shape[at] > factor && shape[at] % factor == 0 && draw_.chance(0.5)) {
        shape[at] /= factor;
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), factor);
        break;
      }
    }
  }
  if (draw_.chance(0.2)) shape.insert(shape.begin(), 1);
  if (!shape.empty() && draw_.chance(0.2)) {
    shape[static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(shape.size()) - 1))] = -1;
  }
  return shape;
}

}  // namespace etalon::conformance
