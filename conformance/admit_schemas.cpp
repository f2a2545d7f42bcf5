#include "conformance/admit_schemas.hpp"

#include <algorithm>
#include <cmath>

#include "conformance/along_tangents.hpp"
#include "conformance/schemas/envelopes_of.hpp"

namespace etalon::conformance {
namespace {

constexpr auto no_mark = static_cast<std::uint8_t>(~reference::undecided);

/// Where the meaning is a number for sure and a law says less, the meaning counts.
void keep_numbers(reference::Envelope& schema, const reference::Envelope& meaning, std::size_t i) {
  const bool bounded = schema.flags[i] == reference::admits_finite && std::isfinite(schema.lower[i]) && std::isfinite(schema.upper[i]);
  if (bounded || meaning.flags[i] != reference::admits_finite) return;
  schema.flags[i] = meaning.flags[i];
  schema.lower[i] = meaning.lower[i];
  schema.upper[i] = meaning.upper[i];
}

/// Where the meaning decides, so must a schema: its interval counts, however wide it is.
[[nodiscard]] reference::Envelope decided(reference::Envelope schema, const reference::Envelope& meaning) {
  for (std::size_t i = 0; i < schema.flags.size() && i < meaning.flags.size(); ++i) {
    if ((meaning.flags[i] & reference::undecided) == 0) schema.flags[i] &= no_mark;
  }
  return schema;
}

/// The envelope of another schema in place of an output's own: its decisions are not those of the other outputs.
void put_in_place(reference::Envelopes& bounds, std::size_t output, reference::Envelope schema) {
  std::size_t unused = 0;
  for (const reference::Envelope& e : bounds.outputs) {
    for (const reference::Alternatives& a : e.alternatives) unused = std::max(unused, a.component + 1);
  }
  for (reference::Alternatives& a : schema.alternatives) a.component += unused;
  bounds.outputs[output] = std::move(schema);
}

/// Puts envelopes of one schema in place where they admit what the definition's own do not.
class Admitting {
 public:
  Admitting(reference::Envelopes& bounds, std::span<const HostTensor> got, const Freedoms& freedoms)
      : bounds_(bounds), got_(got), freedoms_(freedoms), meant_(bounds) {
    for (std::size_t o = 0; o < bounds_.outputs.size() && o < got_.size(); ++o) {
      if (!admits(o)) free(o, bounds_.outputs[o]);
    }
    meaning_ = bounds_;
  }

  [[nodiscard]] bool is_complete() const { return reference::judge(got_, bounds_).passed(); }

  void offer(reference::Envelopes others, bool by_law) {
    for (std::size_t o = 0; o < others.outputs.size() && o < got_.size(); ++o) {
      others.outputs[o] = decided(others.outputs[o], meaning_.outputs[o]);
      for (std::size_t i = 0; by_law && i < others.outputs[o].flags.size(); ++i) keep_numbers(others.outputs[o], meant_.outputs[o], i);
      if (admits(o)) continue;
      free(o, others.outputs[o]);
      if (judge(got_[o], others.outputs[o]).passed()) put_in_place(bounds_, o, others.outputs[o]);
    }
    // Tensors that differ in a decision, each admitted alone: readers that compute anew decide anew.
    if (others.outputs.size() == got_.size() && !is_complete() && judge(got_, others).passed()) bounds_ = std::move(others);
  }

 private:
  [[nodiscard]] bool admits(std::size_t o) const { return judge(got_[o], bounds_.outputs[o]).passed(); }
  void free(std::size_t o, reference::Envelope& e) const {
    if (o < freedoms_.size()) admit(e, freedoms_[o]);
  }

  reference::Envelopes& bounds_;
  std::span<const HostTensor> got_;
  const Freedoms& freedoms_;
  const reference::Envelopes meant_;  ///< without freedoms
  reference::Envelopes meaning_;
};

}  // namespace

void admit_schemas(reference::Envelopes& bounds, std::span<const HostTensor> got, std::span<const Schema> schemas,
                   const Freedoms& freedoms, const spec::Contract& contract) {
  Admitting admission(bounds, got, freedoms);
  std::vector<reference::Envelopes> along_all;
  for (std::size_t s = 0; s < schemas.size() && !admission.is_complete(); ++s) {
    along_all.push_back(envelopes_of(schemas[s], contract));
    admission.offer(along_all.back(), schemas[s].by_law);
  }
  for (std::size_t s = 0; s < schemas.size() && !admission.is_complete(); ++s) {
    if (has_directions(schemas[s])) admission.offer(along_directions(schemas[s], along_all[s], contract), schemas[s].by_law);
  }
}

void widen(reference::Envelopes& bounds, const reference::Envelopes& others) {
  for (std::size_t o = 0; o < others.outputs.size(); ++o) {
    reference::Envelope& to = bounds.outputs[o];
    const reference::Envelope& from = others.outputs[o];
    for (std::size_t i = 0; i < to.lower.size() && i < from.lower.size(); ++i) {
      to.lower[i] = std::min(to.lower[i], from.lower[i]);
      to.upper[i] = std::max(to.upper[i], from.upper[i]);
      to.deviation[i] = std::max(to.deviation[i], from.deviation[i]);
      to.flags[i] |= static_cast<std::uint8_t>(from.flags[i] & no_mark);
    }
  }
}

void widen_by_schemas(reference::Envelopes& bounds, std::span<const Schema> schemas, const spec::Contract& contract) {
  for (const Schema& schema : schemas) widen(bounds, envelopes_of(schema, contract));
}

}  // namespace etalon::conformance
