#include "conformance/steps.hpp"

#include <algorithm>
#include <optional>

#include "conformance/shapes.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance {
namespace {

/// The operands that are no state: other numbers in each step, without drawing again.
void rotate_by_one(HostTensor& t) {
  if (t.bytes.empty()) return;
  const std::size_t size = size_of(t.dtype);
  std::rotate(t.bytes.begin(), t.bytes.begin() + static_cast<std::ptrdiff_t>(size), t.bytes.end());
}

}  // namespace

void advance(Case& c, const std::vector<HostTensor>& outputs) {
  const auto links = state_links(definition_of(c));
  std::vector<bool> is_state(c.operands.size(), false);
  for (std::size_t r = 0; r < links.size() && r < outputs.size(); ++r) {
    if (!links[r] || !c.operands[*links[r]]) continue;
    c.operands[*links[r]] = outputs[r];
    is_state[*links[r]] = true;
  }
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (!c.operands[i] || is_state[i]) continue;
    HostTensor& t = *c.operands[i];
    if (t.dtype == DType::i64 && t.dims.rank == 0) {
      set_element(t, 0, element(t, 0) + 1);
    } else if (kind_of(t.dtype) == Kind::real) {
      rotate_by_one(t);
    }
  }
}

}  // namespace etalon::conformance
