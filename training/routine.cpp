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

template <class T>
bool all_finite(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(), [](T x) { return std::isfinite(x); });
}

bool finite(const HostTensor& value) {
  if (value.dtype == DType::f32) return all_finite(value.view<float>());
  if (value.dtype == DType::f64) return all_finite(value.view<double>());
  return true;
}

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

Routine::Routine(const spec::Program& program, const Target& target, compiled::Store& store) : bound_(program, target), store_(&store) {
  for (const spec::Input& input : bound_.program().inputs) {
    if (input.role == spec::Role::parameter) store.declare(input.name, input.dtype, input.dims);
  }
}

Routine& Routine::watch(const std::string& output) {
  const auto& outputs = program().outputs;
  if (std::find(outputs.begin(), outputs.end(), output) == outputs.end()) throw SpecViolation(unknown_name("output", output, outputs));
  watched_.push_back(output);
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

Outcome Routine::run(const Named& given) const {
  const auto run_with = [&](const Named& all) -> Outcome {
    Outcome outcome;
    std::vector<HostTensor> values;
    try {
      values = bound_.run(*store_, all);
    } catch (const Unsupported& e) {
      return {Outcome::Status::failed, e.what(), {}};
    } catch (const IoError& e) {
      return {Outcome::Status::failed, e.what(), {}};
    }
    for (std::size_t i = 0; i < values.size(); ++i) outcome.outputs.emplace_back(program().outputs[i], std::move(values[i]));
    for (const std::string& name : watched_) {
      if (finite(outcome.output(name))) continue;
      outcome.status = Outcome::Status::not_finite;
      outcome.why = fmt::format("`{}` has elements that are not finite", name);
      break;
    }
    return outcome;
  };
  if (indices_.empty()) return run_with(given);
  Named all = given;
  for (const auto& [name, value] : indices_) all.emplace(name, HostTensor::of<std::int64_t>({}, {value}));
  return run_with(all);
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
      more = after(indices_, last) && last.completed();
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
