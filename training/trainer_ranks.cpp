#include <fmt/format.h>

#include <cstring>
#include <span>
#include <string>

#include "spec/error.hpp"
#include "spec/sha256.hpp"
#include "training/files/safetensors.hpp"
#include "training/ranks/orders.hpp"
#include "training/shadow/shadow.hpp"
#include "training/trainer.hpp"

namespace etalon::training {

namespace {

Bytes bytes_of(const std::string& text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string text_of(const Bytes& bytes) {
  std::string text;
  for (const std::byte b : bytes) text += static_cast<char>(b);
  return text;
}

}  // namespace

/// Null where this process computes steps alone.
Ranks* Trainer::others() { return steps_.ranked() == nullptr ? nullptr : options_.ranks.get(); }

Outcome Trainer::together(const StepPosition& at) {
  if (Ranks* ranks = others()) {
    if (!is_handed_out_) hand_out_state();
    give(*ranks, {RankOrder::Kind::step, at.epoch * shape_.batches + at.batch});
  }
  return steps_.run(at);
}

/// Who surrounds a step reads the state before and after it, and may put the one before back.
Outcome Trainer::surrounded(const StepPosition& at) {
  int computed = 0;
  gather_state();
  Outcome outcome = around_(at.epoch * shape_.batches + at.batch, [&] {
    if (computed++ > 0) is_handed_out_ = false;
    Outcome once = together(at);
    gather_state();
    return once;
  });
  if (computed > 1) is_handed_out_ = false;
  return outcome;
}

void Trainer::gather_state() {
  if (others() == nullptr || !is_handed_out_) return;
  give(*others(), {RankOrder::Kind::whole});
  steps_.ranked()->make_whole();
}

void Trainer::hand_out_state() {
  give(*others(), {RankOrder::Kind::state});
  (void)others()->spread(bytes_of(safetensors_of(state_.download())));
  steps_.ranked()->take_state();
  is_handed_out_ = true;
}

std::vector<Bytes> Trainer::digests() { return others()->gather(bytes_of(sha256_of(safetensors_of(state_.download())))); }

Named Trainer::settled_state() {
  if (others() == nullptr || !is_handed_out_) return state_.download();
  gather_state();
  give(*others(), {RankOrder::Kind::compare});
  const std::vector<Bytes> all = digests();
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw NotRepeated(fmt::format("rank {} has another state than rank 0, {}, expected {}: one of their machines does not compute what it should",
                                  rank, text_of(all[rank]), text_of(all[0])));
  }
  return state_.download();
}

void Trainer::follow() {
  for (;;) {
    const RankOrder order = next_order(*options_.ranks);
    switch (order.kind) {
      case RankOrder::Kind::step: (void)steps_.run(loaded(order.step)); break;  // rank 0 has the same outcome
      case RankOrder::Kind::whole: steps_.ranked()->make_whole(); break;
      case RankOrder::Kind::compare: (void)digests(); break;
      case RankOrder::Kind::state: {
        const Bytes state = others()->spread({});
        state_.upload(read_safetensors(state, "the state of rank 0"), Upload::strict, Part::all);
        steps_.ranked()->take_state();
        break;
      }
      case RankOrder::Kind::end: return;
    }
  }
}

}  // namespace etalon::training
