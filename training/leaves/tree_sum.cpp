#include "training/leaves/tree_sum.hpp"

#include <fmt/format.h>

#include <bit>
#include <span>
#include <string>
#include <utility>

#include "spec/error.hpp"
#include "spec/value_type.hpp"

namespace etalon::training {

namespace {

std::string to_text(LeafRange r) { return fmt::format("[{}, {})", r.first, r.end); }

bool contains(LeafRange outer, LeafRange inner) { return outer.first <= inner.first && inner.end <= outer.end; }

/// The half of a node in which a leaf lies.
LeafRange half_with(std::int64_t leaf, LeafRange node) {
  const std::int64_t middle = middle_of(node);
  return leaf < middle ? LeafRange{node.first, middle} : LeafRange{middle, node.end};
}

void collect(LeafRange node, LeafRange range, std::vector<LeafRange>& found) {
  if (node.end <= range.first || range.end <= node.first) return;
  if (contains(range, node)) {
    found.push_back(node);
    return;
  }
  const std::int64_t middle = middle_of(node);
  collect({node.first, middle}, range, found);
  collect({middle, node.end}, range, found);
}

template <class T>
void add_elements(HostTensor& to, const HostTensor& more) {
  const std::span<T> sum = to.view<T>();
  const std::span<const T> summand = more.view<T>();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += summand[i];
}

void add_to(Summands& left, const Summands& right) {
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].dtype == DType::f32)
      add_elements<float>(left[i], right[i]);
    else
      add_elements<double>(left[i], right[i]);
  }
}

void require_same_types(const Summands& got, const Summands& want) {
  if (got.size() != want.size())
    throw SpecViolation(fmt::format("leaves: {} tensors, expected {} as before", got.size(), want.size()));
  for (std::size_t i = 0; i < got.size(); ++i) {
    const spec::ValueType is{got[i].dtype, got[i].dims}, expected{want[i].dtype, want[i].dims};
    if (is == expected) continue;
    throw SpecViolation(
        fmt::format("leaves: tensor {} is {}, expected {} as before", i, to_string(is), to_string(expected)));
  }
}

}  // namespace

std::int64_t middle_of(LeafRange node) {
  const auto count = static_cast<std::uint64_t>(node.count());
  return node.first + static_cast<std::int64_t>(std::bit_floor(count - 1));
}

std::vector<LeafRange> largest_nodes(LeafRange range, std::int64_t leaves) {
  if (range.count() < 0 || !contains({0, leaves}, range)) {
    throw SpecViolation(fmt::format("leaves: {} is no range of {} leaves", to_text(range), leaves));
  }
  std::vector<LeafRange> found;
  if (range.count() > 0) collect({0, leaves}, range, found);
  return found;
}

TreeSum::TreeSum(std::int64_t leaves) : leaves_(leaves) {
  if (leaves < 1) throw SpecViolation(fmt::format("leaves: a sum of {} leaves, expected at least 1", leaves));
}

/// The node that this is a half of; itself where it is the root, nothing where it is no node.
std::optional<LeafRange> TreeSum::parent(LeafRange node) const {
  LeafRange at{0, leaves_};
  if (at == node) return at;
  while (at.count() > 1 && contains(at, node)) {
    const LeafRange half = half_with(node.first, at);
    if (half == node) return at;
    at = half;
  }
  return std::nullopt;
}

void TreeSum::require_next(const SumNode& node) const {
  if (node.leaves.count() < 1 || !parent(node.leaves)) {
    throw SpecViolation(fmt::format("leaves: {} is no node of the tree over {} leaves", to_text(node.leaves), leaves_));
  }
  for (const HostTensor& tensor : node.sum) require_summable(tensor.dtype, "a leaf's tensor");
  if (held_.empty()) return;
  if (node.leaves.first != held_.back().leaves.end) {
    throw SpecViolation(fmt::format("leaves: {} comes after {}, expected leaf {}", to_text(node.leaves),
                                    to_text(held_.back().leaves), held_.back().leaves.end));
  }
  require_same_types(node.sum, held_.back().sum);
}

bool TreeSum::ends_in_halves() const {
  if (held_.size() < 2) return false;
  return parent(held_[held_.size() - 2].leaves) == parent(held_.back().leaves);
}

void TreeSum::add(SumNode node) {
  require_next(node);
  held_.push_back(std::move(node));
  while (ends_in_halves()) {
    const SumNode right = std::move(held_.back());
    held_.pop_back();
    add_to(held_.back().sum, right.sum);
    held_.back().leaves.end = right.leaves.end;
  }
}

std::vector<SumNode> TreeSum::take() { return std::exchange(held_, {}); }

Summands TreeSum::take_root() {
  if (held_.size() != 1 || held_[0].leaves.count() != leaves_) {
    const std::string found =
        held_.empty() ? "none" : fmt::format("{} to {}", held_.front().leaves.first, held_.back().leaves.end - 1);
    throw SpecViolation(fmt::format("leaves: the sum of {} leaves has {}", leaves_, found));
  }
  return std::move(take()[0].sum);
}

void require_summable(DType dtype, const std::string& name) {
  if (dtype == DType::f32 || dtype == DType::f64) return;
  throw SpecViolation(
      fmt::format("leaves: {} is {}, expected f32 or f64, which are what is added", name, name_of(dtype)));
}

}  // namespace etalon::training
