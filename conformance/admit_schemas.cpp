#include "conformance/admit_schemas.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "conformance/along_tangents.hpp"
#include "conformance/schemas/envelopes_of.hpp"

namespace etalon::conformance {
namespace {

/// Whether the meaning counts in place of the schema: it is a number for sure and a law says less, or beside nothing one of them is none.
[[nodiscard]] bool counts(const reference::Envelope& meaning, const reference::Envelope& said, std::size_t i, const Schema& schema) {
  const bool number = meaning.flags[i] == reference::admits_finite;
  const bool bounded = said.flags[i] == reference::admits_finite && std::isfinite(said.lower[i]) && std::isfinite(said.upper[i]);
  return (schema.beside_nothing && !(number && bounded)) || (schema.by_law && number && !bounded);
}

/// In each branch of what hangs on decisions, too.
void keep_what_counts(reference::Envelope& said, const reference::Envelope& meaning, const Schema& schema) {
  std::vector<bool> replaced(said.flags.size());
  for (std::size_t i = 0; i < replaced.size(); ++i) {
    replaced[i] = counts(meaning, said, i, schema);
    if (!replaced[i]) continue;
    said.flags[i] = meaning.flags[i];
    said.lower[i] = meaning.lower[i];
    said.upper[i] = meaning.upper[i];
  }
  for (reference::Alternatives& a : said.alternatives) {
    for (std::size_t k = 0; k < a.elements.size(); ++k) {
      const std::size_t i = a.elements[k];
      if (!replaced[i]) continue;
      for (auto& branch : a.branches) branch[k] = {meaning.lower[i], meaning.upper[i], meaning.flags[i]};
    }
  }
}

/// Where the meaning decides, so must a schema: its interval counts, however wide it is, if it has one.
/// \param freed the meaning, with what freedoms leave open
void hold_to(reference::Envelope& said, const reference::Envelope& meaning, const reference::Envelope& freed, const Schema& schema) {
  keep_what_counts(said, meaning, schema);
  for (std::size_t i = 0; i < said.flags.size() && i < freed.flags.size(); ++i) {
    if ((freed.flags[i] & reference::undecided) == 0) said.flags[i] = reference::decided(said.flags[i]);
  }
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
      : bounds_(bounds), got_(got), freedoms_(freedoms), meaning_(bounds) {
    for (std::size_t o = 0; o < bounds_.outputs.size() && o < got_.size(); ++o) {
      if (!admits(o)) free(o, bounds_.outputs[o]);
    }
    freed_ = bounds_;
  }

  [[nodiscard]] bool is_complete() const { return reference::judge(got_, bounds_).passed(); }

  void offer(reference::Envelopes others, const Schema& schema) {
    for (std::size_t o = 0; o < others.outputs.size() && o < got_.size(); ++o) {
      hold_to(others.outputs[o], meaning_.outputs[o], freed_.outputs[o], schema);
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
  const reference::Envelopes meaning_;
  reference::Envelopes freed_;  ///< the meaning, with what freedoms leave open where the answer needs it
};

/// Calls `offer` with the envelopes of each schema, and then of those along one tangent after the other, until it has enough.
template <class Offer>
void for_each_way(std::span<const Schema> schemas, const spec::Contract& contract, const Offer& offer) {
  std::vector<reference::Envelopes> along_all;
  for (const Schema& schema : schemas) {
    along_all.push_back(envelopes_of(schema, contract));
    if (offer(along_all.back(), schema)) return;
  }
  for (std::size_t s = 0; s < schemas.size(); ++s) {
    if (has_directions(schemas[s]) && offer(along_directions(schemas[s], along_all[s], contract), schemas[s])) return;
  }
}

}  // namespace

void admit_schemas(reference::Envelopes& bounds, std::span<const HostTensor> got, std::span<const Schema> schemas,
                   const Freedoms& freedoms, const spec::Contract& contract) {
  Admitting admission(bounds, got, freedoms);
  if (admission.is_complete()) return;
  for_each_way(schemas, contract, [&](reference::Envelopes way, const Schema& schema) {
    admission.offer(std::move(way), schema);
    return admission.is_complete();
  });
}

void for_each_admitted(const reference::Envelopes& meaning, std::span<const Schema> schemas, const Freedoms& freedoms,
                       const spec::Contract& contract, const std::function<void(const reference::Envelopes&)>& visit) {
  reference::Envelopes freed = meaning;
  admit(freed, freedoms);
  visit(freed);
  for_each_way(schemas, contract, [&](reference::Envelopes way, const Schema& schema) {
    for (std::size_t o = 0; o < way.outputs.size(); ++o) {
      hold_to(way.outputs[o], meaning.outputs[o], freed.outputs[o], schema);
      if (o < freedoms.size()) admit(way.outputs[o], freedoms[o]);
    }
    visit(way);
    return false;
  });
}

void widen(reference::Envelopes& bounds, const reference::Envelopes& others) {
  for (std::size_t o = 0; o < others.outputs.size(); ++o) {
    reference::Envelope& to = bounds.outputs[o];
    const reference::Envelope& from = others.outputs[o];
    for (std::size_t i = 0; i < to.lower.size() && i < from.lower.size(); ++i) {
      to.lower[i] = std::min(to.lower[i], from.lower[i]);
      to.upper[i] = std::max(to.upper[i], from.upper[i]);
      to.deviation[i] = std::max(to.deviation[i], from.deviation[i]);
      to.flags[i] |= reference::decided(from.flags[i]);
      const bool differ = i < to.exact.size() && i < from.exact.size() && to.exact[i] != from.exact[i];
      if (differ) to.flags[i] |= reference::undecided;
    }
  }
}

}  // namespace etalon::conformance
