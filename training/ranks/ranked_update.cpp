#include "training/ranks/ranked_update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spec/error.hpp"
#include "training/step.hpp"

namespace etalon::training {

namespace {

std::vector<Slices::Group> groups_of_their_own(const spec::Program& program) {
  std::vector<Slices::Group> groups;
  for (const spec::Input& input : program.inputs) {
    if (input.role == spec::Role::input && input.dims.rank > 0) groups.push_back({input.dims.count(), {input.name}});
  }
  return groups;
}

bool reads(const spec::Program& program, const std::string& name) {
  return std::ranges::any_of(program.inputs, [&](const spec::Input& input) { return input.name == name; });
}

/// The next bytes of a message. \throws DeviceError where it is too short
void take(HostTensor& to, const Bytes& from, std::size_t& at) {
  if (from.size() - at < to.bytes.size())
    throw DeviceError(fmt::format("ranks: a message of {} bytes, expected {} from byte {}", from.size(), to.bytes.size(), at));
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), to.bytes.size(), to.bytes.begin());
  at += to.bytes.size();
}

void require_read(const Bytes& message, std::size_t at) {
  if (at != message.size()) throw DeviceError(fmt::format("ranks: a message of {} bytes, expected {}", message.size(), at));
}

Bytes bytes_of(const Outcome& outcome) {
  Bytes bytes{static_cast<std::byte>(outcome.status)};
  for (const char c : outcome.why) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

}  // namespace

RankedUpdate::RankedUpdate(const Setting& s) : ranks_(s.ranks), plan_(s.plan), program_(s.update), store_(s.store) {
  const auto groups = s.guard.updates || !s.guard.values.empty() ? std::nullopt : elementwise_groups(program_);
  is_cut_ = groups.has_value();
  slices_ = std::make_unique<Slices>(groups ? *groups : groups_of_their_own(program_), ranks_->count());
  for (const spec::Input& input : program_.inputs) {
    const Sum entry{input.name, input.dtype, input.dims};
    if (input.role == spec::Role::input) sums_.push_back(entry);
    if (input.role == spec::Role::parameter) state_.push_back(entry);
  }
  for (const spec::Update& update : spec::all_updates(program_)) {
    const Sum entry = *std::ranges::find(state_, update.parameter, &Sum::name);
    (entry.dims.rank == 0 ? scalars_ : reads(s.leaf, entry.name) ? handed_out_ : kept_).push_back(entry);
  }
  update_ = is_cut_ ? std::make_unique<Routine>(sliced(program_, *slices_, ranks_->rank()), s.target, own_)
                    : std::make_unique<Routine>(program_, s.target, store_);
  update_->watch(names::loss).guard(s.guard);
}

/// Room for this rank's part.
HostTensor RankedUpdate::owned(const Sum& sum) const {
  const std::optional<Slice> part = slices_->part(sum.name, ranks_->rank());
  return {sum.dtype, part ? Dims{part->count()} : sum.dims};
}

std::vector<Bytes> RankedUpdate::for_owners(const std::vector<SumNode>& nodes) const {
  std::vector<Bytes> messages(static_cast<std::size_t>(ranks_->count()));
  for (int owner = 0; owner < ranks_->count(); ++owner) {
    Bytes& message = messages[static_cast<std::size_t>(owner)];
    for (const SumNode& node : nodes) {
      for (std::size_t i = 0; i < sums_.size(); ++i) {
        const HostTensor& tensor = node.sum.at(i);
        append(message, tensor, slices_->part(sums_[i].name, owner).value_or(Slice{0, tensor.dims.count()}));
      }
    }
  }
  return messages;
}

/// What each rank sends follows from the plan, and is added in the order of the leaves.
Summands RankedUpdate::added(const std::vector<Bytes>& received) const {
  TreeSum sum(plan_.shape.leaves);
  for (int rank = 0; rank < ranks_->count(); ++rank) {
    const Bytes& message = received.at(static_cast<std::size_t>(rank));
    std::size_t at = 0;
    for (const LeafRange& node : largest_nodes(plan_.leaves_of(rank), plan_.shape.leaves)) {
      Summands tensors;
      for (const Sum& of : sums_) take(tensors.emplace_back(owned(of)), message, at);
      sum.add({node, std::move(tensors)});
    }
    require_read(message, at);
  }
  return sum.take_root();
}

/// Whole tensors from the parts of all owners.
std::vector<HostTensor> RankedUpdate::put_together(const std::vector<Sum>& of, Bytes own) {
  std::vector<HostTensor> whole;
  for (const Sum& entry : of) whole.emplace_back(entry.dtype, entry.dims);
  const std::vector<Bytes> parts = ranks_->gather(own);
  for (int owner = 0; owner < ranks_->count(); ++owner) {
    const Bytes& message = parts.at(static_cast<std::size_t>(owner));
    std::size_t at = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      const std::optional<Slice> part = slices_->part(of[i].name, owner);
      if (!part) throw InternalError("ranks: " + of[i].name + " has no owners");
      HostTensor piece(of[i].dtype, {part->count()});
      take(piece, message, at);
      std::ranges::copy(piece.bytes, whole[i].bytes.begin() + part->first * static_cast<std::int64_t>(size_of(of[i].dtype)));
    }
    require_read(message, at);
  }
  return whole;
}

void RankedUpdate::hand_out(const std::vector<Sum>& entries) {
  Bytes own;
  for (const Sum& entry : entries) {
    const HostTensor slice = own_.read(entry.name);
    own.insert(own.end(), slice.bytes.begin(), slice.bytes.end());
  }
  const std::vector<HostTensor> whole = put_together(entries, std::move(own));
  for (std::size_t i = 0; i < entries.size(); ++i) store_.write(entries[i].name, whole[i]);
}

/// All ranks agree on it.
std::optional<Outcome> RankedUpdate::first_failure(const Outcome& own) {
  const std::vector<Bytes> all = ranks_->gather(bytes_of(own));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    Outcome found;
    found.status = static_cast<Outcome::Status>(all[rank].at(0));
    if (found.completed()) continue;
    if (rank == static_cast<std::size_t>(ranks_->rank())) return own;
    for (std::size_t i = 1; i < all[rank].size(); ++i) found.why += static_cast<char>(all[rank][i]);
    return found;
  }
  return std::nullopt;
}

Outcome RankedUpdate::run(std::int64_t epoch, std::int64_t batch, Outcome leaves, const std::vector<SumNode>& nodes) {
  if (std::optional<Outcome> failed = first_failure(leaves)) return std::move(*failed);
  Summands root = added(ranks_->exchange(for_owners(nodes)));
  if (!is_cut_) {
    std::vector<Sum> cut;
    Bytes own;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i].dims.rank == 0) continue;
      cut.push_back(sums_[i]);
      own.insert(own.end(), root[i].bytes.begin(), root[i].bytes.end());
    }
    std::vector<HostTensor> whole = put_together(cut, std::move(own));
    for (std::size_t i = 0, next = 0; i < sums_.size(); ++i) {
      if (sums_[i].dims.rank > 0) root[i] = std::move(whole[next++]);
    }
  }
  Named given;
  for (std::size_t i = 0; i < sums_.size(); ++i) given.emplace(sums_[i].name, std::move(root.at(i)));
  update_->bind(names::epoch, epoch);
  update_->bind(names::batch, batch);
  Outcome outcome = update_->run(given);
  if (!is_cut_) return outcome;
  for (const Sum& entry : scalars_) store_.write(entry.name, own_.read(entry.name));
  hand_out(handed_out_);
  return outcome;
}

void RankedUpdate::make_whole() {
  if (is_cut_) hand_out(kept_);
}

void RankedUpdate::take_state() {
  if (!is_cut_) return;
  for (const Sum& entry : state_) {
    const std::optional<Slice> part = slices_->part(entry.name, ranks_->rank());
    const HostTensor value = store_.read(entry.name);
    own_.put(entry.name, part ? slice_of(value, *part) : value);
  }
}

}  // namespace etalon::training
