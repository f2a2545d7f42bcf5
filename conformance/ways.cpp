#include "conformance/ways.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "conformance/own_type_ends.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance {
namespace {

using reference::Envelope;
using reference::Envelopes;

/// One box per tensor of an answer.
using Boxes = std::vector<Way>;

void put_integer(HostTensor& t, std::size_t i, std::int64_t value) {
  if (t.dtype == DType::i64) t.view<std::int64_t>()[i] = value;
  else set_element(t, i, static_cast<double>(value));
}

void put(Way& way, std::size_t i, const reference::Admitted& in) {
  const DType dtype = way.lower.dtype;
  way.admits[i] = static_cast<std::uint8_t>(in.flags & ~reference::given_up);
  if (kind_of(dtype) != Kind::real) {
    put_integer(way.lower, i, in.exact);
    put_integer(way.upper, i, in.exact);
    return;
  }
  // Beside special values alone, and where nothing is known, the ends say nothing.
  const bool says = (in.flags & reference::admits_finite) != 0 && (in.flags & reference::undecided) == 0;
  set_element(way.lower, i, says ? least_inside(in.lower, dtype) : 0);
  set_element(way.upper, i, says ? greatest_inside(in.upper, dtype) : 0);
}

[[nodiscard]] Way box_of(const Envelope& e) {
  Way way{HostTensor(e.dtype, e.dims), HostTensor(e.dtype, e.dims), std::vector<std::uint8_t>(e.flags.size())};
  const bool real = kind_of(e.dtype) == Kind::real;
  for (std::size_t i = 0; i < e.flags.size(); ++i) {
    put(way, i, {.lower = e.lower[i], .upper = e.upper[i], .flags = e.flags[i], .exact = real ? 0 : e.exact[i]});
  }
  return way;
}

/// The branches of each decision that some of the tensors hang on.
[[nodiscard]] std::map<std::size_t, std::size_t> components_in(const std::vector<const Envelope*>& tensors) {
  std::map<std::size_t, std::size_t> branches;
  for (const Envelope* e : tensors) {
    for (const reference::Alternatives& a : e->alternatives) branches[a.component] = a.branches.size();
  }
  return branches;
}

/// The boxes of the tensors for every way to take their decisions together; nothing where there are too many.
[[nodiscard]] std::optional<std::vector<Boxes>> expanded(const std::vector<const Envelope*>& tensors) {
  std::vector<Boxes> all(1);
  for (const Envelope* e : tensors) all[0].push_back(box_of(*e));
  for (const auto& [component, branches] : components_in(tensors)) {
    if (all.size() * branches > most_ways) return std::nullopt;
    std::vector<Boxes> next;
    for (const Boxes& boxes : all) {
      for (std::size_t b = 0; b < branches; ++b) {
        next.push_back(boxes);
        for (std::size_t o = 0; o < tensors.size(); ++o) {
          for (const reference::Alternatives& a : tensors[o]->alternatives) {
            if (a.component != component) continue;
            for (std::size_t k = 0; k < a.elements.size(); ++k) {
              if ((tensors[o]->flags[a.elements[k]] & reference::undecided) == 0) put(next.back()[o], a.elements[k], a.branches.at(b).at(k));
            }
          }
        }
      }
    }
    all = std::move(next);
  }
  return all;
}

[[nodiscard]] bool contains(const Boxes& outer, const Boxes& inner) {
  for (std::size_t o = 0; o < outer.size(); ++o) {
    if (!conformance::contains(outer[o], inner[o])) return false;
  }
  return true;
}

/// Adds what the others do not admit yet, and takes out what it admits.
template <class Box>
void add(std::vector<Box>& all, Box box) {
  if (std::any_of(all.begin(), all.end(), [&](const Box& other) { return contains(other, box); })) return;
  std::erase_if(all, [&](const Box& other) { return contains(box, other); });
  all.push_back(std::move(box));
}

[[nodiscard]] std::vector<const Envelope*> tensors_of(const Envelopes& e) {
  std::vector<const Envelope*> all;
  for (const Envelope& output : e.outputs) all.push_back(&output);
  return all;
}

/// Whether tensors hang on one decision together.
[[nodiscard]] bool is_linked(const Envelopes& e) {
  std::set<std::size_t> seen;
  for (const Envelope& output : e.outputs) {
    std::set<std::size_t> own;
    for (const reference::Alternatives& a : output.alternatives) own.insert(a.component);
    for (const std::size_t component : own) {
      if (!seen.insert(component).second) return true;
    }
  }
  return false;
}

/// Every choice of one box per tensor among these and those.
[[nodiscard]] std::optional<std::vector<Boxes>> chosen(const Boxes& meaning, const std::vector<std::vector<Way>>& others) {
  std::vector<Boxes> all(1);
  for (std::size_t o = 0; o < meaning.size(); ++o) {
    std::vector<Way> own{meaning[o]};
    for (const Way& way : others[o]) add(own, way);
    if (all.size() * own.size() > most_ways) return std::nullopt;
    std::vector<Boxes> next;
    for (const Boxes& boxes : all) {
      for (const Way& way : own) {
        next.push_back(boxes);
        next.back().push_back(way);
      }
    }
    all = std::move(next);
  }
  return all;
}

[[nodiscard]] HostTensor meant_by(const Envelope& envelope) {
  HostTensor value(envelope.dtype, envelope.dims);
  const bool real = kind_of(envelope.dtype) == Kind::real;
  for (std::size_t i = 0; i < envelope.flags.size(); ++i) {
    if (real) set_element(value, i, envelope.reference[i]);
    else put_integer(value, i, envelope.exact[i]);
  }
  return value;
}

/// Of the answers to one decision in several tensors.
[[nodiscard]] std::optional<Ways> joint_ways(const std::vector<Envelopes>& admitted, const std::vector<std::vector<Way>>& others) {
  std::vector<Boxes> all;
  const auto meanings = expanded(tensors_of(admitted.front()));
  if (!meanings) return std::nullopt;
  for (const Boxes& meaning : *meanings) {
    const auto choices = chosen(meaning, others);
    if (!choices) return std::nullopt;
    for (const Boxes& boxes : *choices) add(all, boxes);
  }
  for (std::size_t s = 1; s < admitted.size(); ++s) {
    if (admitted[s].outputs.size() != admitted.front().outputs.size()) continue;
    const auto wholes = expanded(tensors_of(admitted[s]));
    if (!wholes) return std::nullopt;
    for (const Boxes& boxes : *wholes) add(all, boxes);
  }
  if (all.size() > most_ways) return std::nullopt;
  Ways ways{std::vector<std::vector<Way>>(admitted.front().outputs.size()), all.size() > 1};
  for (const Boxes& boxes : all) {
    for (std::size_t o = 0; o < boxes.size(); ++o) ways.of_tensor[o].push_back(boxes[o]);
  }
  return ways;
}

}  // namespace

bool contains(const Way& outer, const Way& inner) {
  for (std::size_t i = 0; i < outer.admits.size(); ++i) {
    const std::uint8_t out = outer.admits[i], in = inner.admits[i];
    if ((out & reference::undecided) != 0) continue;
    if ((in & ~out) != 0) return false;
    if (kind_of(outer.lower.dtype) != Kind::real) {
      const std::size_t size = size_of(outer.lower.dtype);
      if (!std::equal(outer.lower.bytes.begin() + static_cast<std::ptrdiff_t>(i * size),
                      outer.lower.bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                      inner.lower.bytes.begin() + static_cast<std::ptrdiff_t>(i * size)))
        return false;
    } else if ((in & reference::admits_finite) != 0 &&
               (element(inner.lower, i) < element(outer.lower, i) || element(inner.upper, i) > element(outer.upper, i))) {
      return false;
    }
  }
  return true;
}

std::optional<Ways> ways_of(const std::vector<Envelopes>& admitted) {
  const Envelopes& meaning = admitted.front();
  const bool linked = is_linked(meaning);
  std::vector<std::vector<Way>> of_tensor(meaning.outputs.size());
  for (std::size_t s = linked ? 1 : 0; s < admitted.size(); ++s) {
    for (std::size_t o = 0; o < admitted[s].outputs.size(); ++o) {
      const auto boxes = expanded({&admitted[s].outputs[o]});
      if (!boxes) return std::nullopt;
      for (const Boxes& box : *boxes) add(of_tensor[o], box[0]);
    }
  }
  const bool many = std::any_of(of_tensor.begin(), of_tensor.end(), [](const auto& ways) { return ways.size() > most_ways; });
  if (many) return std::nullopt;
  std::optional<Ways> ways = linked ? joint_ways(admitted, of_tensor) : std::optional(Ways{std::move(of_tensor)});
  if (ways) {
    for (const Envelope& e : meaning.outputs) {
      ways->open = ways->open || !e.alternatives.empty();
      ways->meant.push_back(meant_by(e));
    }
  }
  return ways;
}

}  // namespace etalon::conformance
