#include "conformance/kernel/long_axes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "conformance/case_choices.hpp"
#include "conformance/draw.hpp"
#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t most_cases = 8, most_elements = 20000;
// Cases of values of different instances; the drawn numbers differ too.
constexpr std::array<std::uint64_t, 2> indices{0, 9};
constexpr std::int64_t most_beside = 3;  ///< extents of the other axes

/// The extents among the choices, by name and then by place in rows.
[[nodiscard]] std::vector<std::int64_t*> extents_of(Assignment& assignment) {
  std::vector<std::int64_t*> all;
  for (auto& [name, extent] : assignment.extents) all.push_back(&extent);
  for (auto& [name, row] : assignment.rows) {
    for (std::int64_t& extent : row) all.push_back(&extent);
  }
  return all;
}

/// Beyond a thousand; or just before, at and behind the end of a smaller block.
[[nodiscard]] std::int64_t drawn_length(Draw& draw, bool longest) {
  const std::int64_t block = std::int64_t{1} << (longest ? 10 : draw.integer(7, 9));
  return block + (longest ? draw.integer(1, block / 4) : draw.integer(-1, 1));
}

[[nodiscard]] std::optional<Case> stretched(const CaseKey& key, Assignment assignment, std::size_t axis, std::int64_t length) {
  const std::vector<std::int64_t*> extents = extents_of(assignment);
  for (std::int64_t* extent : extents) *extent = std::clamp<std::int64_t>(*extent, 1, most_beside);
  *extents[axis] = length;
  try {
    std::optional<Case> made = make_case(key, assignment);
    if (!made || elements_of(*made) > most_elements) return std::nullopt;
    return made;
  } catch (const SpecViolation&) {  // an attribute that the length does not fit
    return std::nullopt;
  }
}

}  // namespace

std::vector<Case> long_cases(const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t seed) {
  std::vector<Case> cases;
  for (std::size_t turn = 0; turn < indices.size(); ++turn) {
    const std::uint64_t index = indices[turn];
    const CaseKey key{operation, Check::value, dtype, index, seed, library};
    const std::optional<Case> usual = make_case(key);
    if (!usual) continue;
    Draw draw(draw_key(key, "long axes", index));
    Assignment assignment = usual->assignment;
    assignment.shared_type.reset();
    for (std::size_t axis = 0; axis < extents_of(assignment).size() && cases.size() < most_cases; ++axis) {
      if (auto made = stretched(key, assignment, axis, drawn_length(draw, turn % 2 == 0))) cases.push_back(std::move(*made));
    }
  }
  return cases;
}

}  // namespace etalon::conformance
