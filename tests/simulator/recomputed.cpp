#include "tests/simulator/recomputed.hpp"

#include <algorithm>

#include "reference/bounds/envelope.hpp"
#include "spec/half.hpp"

namespace etalon::bounds_test {
namespace {

using spec::Expr;
using spec::Form;

/// Whether the binders are the indices of the target, in order and all of them.
bool is_elementwise(const spec::System& system, const spec::Equation& q) {
  const Dims& dims = system[q.target].dims;
  if (q.binders.size() != dims.rank) return false;
  for (std::size_t axis = 0; axis < dims.rank; ++axis) {
    const Expr& index = q.place[axis];
    if (index.form() != Form::variable || index->variable != q.binders[axis].variable) return false;
    if (q.binders[axis].extent != dims[axis]) return false;
  }
  return true;
}

bool reads_only(const Expr& e, const std::vector<int>& writers_to_come) {
  if (e.form() == Form::reduce) return false;
  if (e.form() == Form::read && writers_to_come[static_cast<std::size_t>(e->tensor)] > 0) return false;
  return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return reads_only(a, writers_to_come); });
}

/// Nodes without those of indices, where elements that are computed anew count as what they are computed from.
std::size_t size_of(const Expr& e, const std::vector<std::size_t>& elements) {
  if (e.form() == Form::read) return elements[static_cast<std::size_t>(e->tensor)];
  std::size_t size = 1;
  for (const Expr& a : e->args) size += size_of(a, elements);
  return size;
}

}  // namespace

bool is_closed(const Expr& e) {
  if (e.form() == Form::variable || e.form() == Form::read || e.form() == Form::reduce) return false;
  return std::all_of(e->args.begin(), e->args.end(), is_closed);
}

std::vector<int> recomputable(const spec::System& system) {
  std::vector<int> writers(system.tensors.size(), 0);
  for (const auto& q : system.equations) ++writers[static_cast<std::size_t>(q.target)];
  std::vector<int> found(system.tensors.size(), -1);
  std::vector<int> to_come = writers;
  std::vector<std::size_t> sizes(system.tensors.size(), 1);
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    const spec::Equation& q = system.equations[i];
    const auto target = static_cast<std::size_t>(q.target);
    const DType dtype = system[q.target].dtype;
    // What hosts know is rounded when it is stored, and is the same number for all.
    const bool rounds = kind_of(dtype) == Kind::real && !spec::is_half(dtype) && !is_closed(q.value);
    const std::size_t size = size_of(q.value, sizes);
    if (writers[target] == 1 && rounds && is_elementwise(system, q) && reads_only(q.value, to_come) &&
        size <= reference::longest_recomputed) {
      found[target] = static_cast<int>(i);
      sizes[target] = size;
    }
    --to_come[target];
  }
  return found;
}

}  // namespace etalon::bounds_test
