#include "training/leaves/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "spec/error.hpp"
#include "spec/value_type.hpp"

namespace etalon::training {

namespace {

std::size_t bytes_in(const spec::ValueType& type) {
  return static_cast<std::size_t>(type.dims.count()) * size_of(type.dtype);
}

std::string leaves_text(LeafRange r) {
  if (r.count() == 0) return "no leaf";
  return r.count() == 1 ? fmt::format("leaf {}", r.first) : fmt::format("leaves {} to {}", r.first, r.end - 1);
}

std::string sums_text(const std::vector<LeafRange>& nodes) {
  std::string text;
  for (const LeafRange& node : nodes) text += fmt::format("{} the sum of {}", text.empty() ? ", sends" : ",", leaves_text(node));
  return text;
}

std::string sent_text(const std::vector<LeafRange>& sent, std::size_t node_bytes) {
  return sent.empty() ? "" : fmt::format("{}: {} bytes", sums_text(sent), sent.size() * node_bytes);
}

/// The part of so many side by side: the first have one leaf more where they do not divide.
LeafRange part_of(LeafRange all, std::int64_t at, std::int64_t of) {
  const std::int64_t each = all.count() / of, more = all.count() % of;
  const std::int64_t first = all.first + at * each + std::min(at, more);
  return {first, first + each + (at < more ? 1 : 0)};
}

/// What a rank sends to the others.
std::string rank_text(const LeafPlan& plan, int rank) {
  const std::vector<LeafRange> nodes = largest_nodes(plan.leaves_of(rank), plan.shape.leaves);
  if (plan.shape.leaves == 1) return fmt::format("rank {}: {}\n", rank, nodes.empty() ? "idle" : "leaf 0, and updates");
  const std::string cut = nodes.empty() ? " and is idle but for its slice" : fmt::format("{}, in {} slices", sums_text(nodes), plan.ranks);
  return fmt::format("rank {}: {}{}\n", rank, leaves_text(plan.leaves_of(rank)), cut);
}

std::string between_text(const LeafPlan& plan) {
  if (plan.shape.leaves == 1) return "sent between ranks in a step: nothing\n";
  std::size_t nodes = 0;
  for (int rank = 0; rank < plan.ranks; ++rank) nodes += largest_nodes(plan.leaves_of(rank), plan.shape.leaves).size();
  const auto ranks = static_cast<std::size_t>(plan.ranks);
  const std::string then = plan.is_update_cut ? "each rank updates its slice of the parameters, and sends it to the others"
                                              : "the update reads whole gradients: ranks send their slices of the sum, and each updates everything";
  return fmt::format("sent between ranks in a step: slices of {} sums, about {} bytes; {}\n", nodes,
                     nodes * plan.node_bytes / ranks * (ranks - 1), then);
}

}  // namespace

std::size_t LeafPlan::nodes_sent() const {
  std::size_t nodes = 0;
  for (const DevicePart& part : devices) nodes += part.sent.size();
  return nodes;
}

LeafRange LeafPlan::leaves_of(int rank) const {
  const std::size_t first = static_cast<std::size_t>(rank) * devices_each();
  return {devices.at(first).leaves.first, devices.at(first + devices_each() - 1).leaves.end};
}

LeafPlan plan_of(const spec::Program& leaf, const BatchShape& shape, std::int64_t epochs, unsigned devices, int ranks) {
  if (devices < 1) throw SpecViolation("leaves: 0 devices, expected at least 1");
  if (ranks < 1) throw SpecViolation(fmt::format("leaves: {} ranks, expected at least 1", ranks));
  LeafPlan plan{shape, epochs, {}, ranks};
  for (int rank = 0; rank < ranks; ++rank) {
    const LeafRange all = part_of({0, shape.leaves}, rank, ranks);
    for (std::int64_t d = 0; d < devices; ++d) {
      const LeafRange part = part_of(all, d, devices);
      plan.devices.push_back({part, d == 0 ? std::vector<LeafRange>{} : largest_nodes(part, shape.leaves)});
    }
  }
  const std::map<std::string, spec::ValueType> types = spec::types_of(leaf);
  for (const std::string& output : leaf.outputs) plan.node_bytes += bytes_in(types.at(output));
  return plan;
}

std::string to_text(const LeafPlan& plan) {
  std::string text =
      fmt::format("{} steps of {} rows: {} {} of {} rows each\n", plan.shape.batches * plan.epochs, plan.shape.batch,
                  plan.shape.leaves, plan.shape.leaves == 1 ? "leaf" : "leaves", plan.shape.grain());
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const std::size_t d = i % plan.devices_each();
    if (plan.ranks > 1 && d == 0) text += rank_text(plan, static_cast<int>(i / plan.devices_each()));
    const std::string does = d > 0 ? "" : plan.ranks > 1 ? ", joins" : ", joins and updates";
    text += fmt::format("{}device {}: {}{}{}\n", plan.ranks > 1 ? "  " : "", d, leaves_text(plan.devices[i].leaves),
                        sent_text(plan.devices[i].sent, plan.node_bytes), does);
  }
  text += fmt::format("sent in a step: {} sums, {} bytes\n", plan.nodes_sent(), plan.bytes_sent());
  return plan.ranks > 1 ? text + between_text(plan) : text;
}

}  // namespace etalon::training
