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

std::string sent_text(const std::vector<LeafRange>& sent, std::size_t node_bytes) {
  std::string text;
  for (const LeafRange& node : sent)
    text += fmt::format("{} the sum of {}", text.empty() ? ", sends" : ",", leaves_text(node));
  return text.empty() ? text : text + fmt::format(": {} bytes", sent.size() * node_bytes);
}

}  // namespace

std::size_t LeafPlan::nodes_sent() const {
  std::size_t nodes = 0;
  for (const DevicePart& part : devices) nodes += part.sent.size();
  return nodes;
}

LeafPlan plan_of(const spec::Program& leaf, const BatchShape& shape, std::int64_t epochs, unsigned devices) {
  if (devices < 1) throw SpecViolation("leaves: 0 devices, expected at least 1");
  LeafPlan plan{shape, epochs, {}, 0};
  const auto count = static_cast<std::int64_t>(devices);
  for (std::int64_t d = 0; d < count; ++d) {
    // The first devices have one leaf more where they do not divide.
    const std::int64_t each = shape.leaves / count, more = shape.leaves % count;
    const std::int64_t first = d * each + std::min(d, more);
    const LeafRange part{first, first + each + (d < more ? 1 : 0)};
    plan.devices.push_back({part, d == 0 ? std::vector<LeafRange>{} : largest_nodes(part, shape.leaves)});
  }
  const std::map<std::string, spec::ValueType> types = spec::types_of(leaf);
  for (const std::string& output : leaf.outputs) plan.node_bytes += bytes_in(types.at(output));
  return plan;
}

std::string to_text(const LeafPlan& plan) {
  std::string text =
      fmt::format("{} steps of {} rows: {} {} of {} rows each\n", plan.shape.batches * plan.epochs, plan.shape.batch,
                  plan.shape.leaves, plan.shape.leaves == 1 ? "leaf" : "leaves", plan.shape.grain());
  for (std::size_t d = 0; d < plan.devices.size(); ++d) {
    text += fmt::format("device {}: {}{}{}\n", d, leaves_text(plan.devices[d].leaves),
                        sent_text(plan.devices[d].sent, plan.node_bytes), d == 0 ? ", joins and updates" : "");
  }
  return text + fmt::format("sent in a step: {} sums, {} bytes\n", plan.nodes_sent(), plan.bytes_sent());
}

}  // namespace etalon::training
