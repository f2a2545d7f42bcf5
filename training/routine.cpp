#include "training/routine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

namespace {

/// Puts what was bound back when it ends.
class Restored {
 public:
  explicit Restored(std::map<std::string, std::int64_t>& indices) : indices_(indices), before_(indices) {}
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() { indices_ = std::move(before_); }

 private:
  std::map<std::string, std::int64_t>& indices_;
  std::map<std::string, std::int64_t> before_;
};

struct Range {
  std::string name;
  std::int64_t low = 0, high = 0;
  Order order{};
  std::uint32_t stream = 0;
  std::uint32_t passes = 0;

  /// The values of the pass that begins.
  [[nodiscard]] std::vector<std::int64_t> next_pass() {
    const std::uint32_t pass = std::exchange(passes, passes + 1);
    const std::int64_t count = high - low + 1;
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0);
    if (order.kind != Order::Kind::ascending) {
      values = permutation(count, order.seed, order.kind == Order::Kind::shuffled ? 0 : pass,
                           static_cast<Stream>(static_cast<std::uint32_t>(Stream::indices) + stream));
    }
    for (std::int64_t& v : values) v += low;
    return values;
  }
};

}  // namespace

Routine::Routine(Prepared prepared, compiled::Store& store) : prepared_(std::move(prepared)), store_(&store) {
  for (const spec::Input& input : prepared_.program().inputs) {
    if (input.role == spec::Role::parameter) store.declare(input.name, input.dtype, input.dims);
  }
}

Routine& Routine::watch(const std::string& value) {
  watched_.push_back(value);
  try {
    watched_ = in_program_order(program(), watched_);
  } catch (...) {
    watched_.pop_back();
    throw;
  }
  return *this;
}

Routine& Routine::guard(const Guard& guard) {
  guarding_ = Guarding(program(), guard);
  return *this;
}

const spec::Input& Routine::index_named(const std::string& name) const {
  std::vector<std::string> known;
  for (const spec::Input& input : program().inputs) {
    if (input.role != spec::Role::index) continue;
    if (input.name == name) return input;
    known.push_back(input.name);
  }
  throw SpecViolation(unknown_name("index", name, known));
}

void Routine::bind(const std::string& index, std::int64_t value) {
  const spec::Input& input = index_named(index);
  if (input.range && (value < input.range->first || value > input.range->second)) {
    throw SpecViolation(fmt::format("run: index `{}` is {}, its range is {}..{}", index, value, input.range->first, input.range->second));
  }
  indices_[index] = value;
}

std::int64_t Routine::bound(const std::string& index) const {
  const auto at = indices_.find(index_named(index).name);
  if (at == indices_.end()) throw SpecViolation(fmt::format("run: index `{}` is bound to nothing", index));
  return at->second;
}

Routine::Binding* Routine::binding() const {
  const auto same_names = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!binding_ || !std::equal(indices_.begin(), indices_.end(), binding_->indices.begin(), binding_->indices.end(), same_names)) {
    Named indices;
    for (const auto& [name, value] : indices_) indices.emplace(name, HostTensor(DType::i64, {}));
    // Bound to where they stay.
    auto made = std::make_unique<Binding>(Binding{std::move(indices), compiled::Bound(nullptr)});
    auto bound = prepared_.bind(*store_, made->indices);
    if (!bound) return nullptr;
    made->bound = std::move(*bound);
    binding_ = std::move(made);
  }
  auto into = binding_->indices.begin();
  for (const auto& [name, value] : indices_) (into++)->second.view<std::int64_t>()[0] = value;
  return binding_.get();
}

Values Routine::values_of(const Named& given) const {
  if (given.empty()) {
    if (const Binding* ready = binding()) return prepared_.run(ready->bound);
  }
  if (indices_.empty()) return prepared_.run(*store_, given);
  Named all = given;
  for (const auto& [name, value] : indices_) all.emplace(name, HostTensor::of<std::int64_t>({}, {value}));
  return prepared_.run(*store_, all);
}

Outcome Routine::run(const Named& given) const {
  Outcome outcome;
  guarding_.remember(*store_);
  try {
    Values values = values_of(given);
    outcome.outputs = std::move(values.outputs);
    outcome.captures = std::move(values.captures);
  } catch (const Unsupported& e) {
    return {Outcome::Status::failed, e.what()};
  } catch (const IoError& e) {
    return {Outcome::Status::failed, e.what()};
  }
  outcome.not_finite = guarding_.check(outcome.outputs, outcome.captures, *store_);
  for (std::size_t i = 0; i < watched_.size() && !outcome.not_finite; ++i) {
    const NamedValues& outputs = outcome.outputs;
    const auto is = [&](const auto& v) { return v.first == watched_[i]; };
    const bool output = std::any_of(outputs.begin(), outputs.end(), is);
    outcome.not_finite = first_not_finite(watched_[i], output ? outcome.output(watched_[i]) : outcome.captured(watched_[i]));
  }
  if (outcome.not_finite) {
    outcome.status = Outcome::Status::not_finite;
    outcome.why = to_text(*outcome.not_finite);
  }
  return outcome;
}

Outcome Routine::iterate(const std::function<bool(const std::map<std::string, std::int64_t>&, const Outcome&)>& after,
                         const std::map<std::string, Order>& orders, const Named& given) {
  std::vector<Range> ranges;
  for (const spec::Input& input : program().inputs) {
    if (input.role != spec::Role::index || !input.range) continue;
    const auto order = orders.find(input.name);
    ranges.push_back({input.name, input.range->first, input.range->second, order == orders.end() ? Order{} : order->second,
                      static_cast<std::uint32_t>(ranges.size())});
  }
  if (ranges.empty()) throw SpecViolation("iterate: no index of the program has a range");
  for (const auto& [name, order] : orders) {
    if (!index_named(name).range) throw SpecViolation(fmt::format("iterate: index `{}` has no range", name));
  }
  const Restored restored(indices_);
  Outcome last;
  bool more = true;
  const std::function<void(std::size_t)> nest = [&](std::size_t depth) {
    if (depth == ranges.size()) {
      last = run(given);
      const bool wanted = after(indices_, last);
      more = wanted && last.completed();
      if (!wanted && last.completed()) {
        last.status = Outcome::Status::aborted;
        last.why = "it was asked to stop";
        for (const auto& [name, value] : indices_) last.why += fmt::format("{}{} = {}", name == indices_.begin()->first ? " after " : ", ", name, value);
      }
      return;
    }
    for (const std::int64_t value : ranges[depth].next_pass()) {
      indices_[ranges[depth].name] = value;
      nest(depth + 1);
      if (!more) return;
    }
  };
  nest(0);
  return last;
}

Outcome run_once(const spec::Program& program, const Target& target, compiled::Store& store, const Named& given) {
  return Routine(program, target, store).run(given);
}

}  // namespace etalon::training
