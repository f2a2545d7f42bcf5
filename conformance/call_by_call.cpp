#include "conformance/call_by_call.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/admit_schemas.hpp"
#include "conformance/case.hpp"
#include "conformance/question.hpp"
#include "conformance/schemas.hpp"
#include "conformance/schemas/envelopes_of.hpp"
#include "conformance/single_call.hpp"
#include "conformance/values.hpp"
#include "reference/bounds/interval.hpp"
#include "spec/library/library.hpp"
#include "spec/program/analysis.hpp"
#include "spec/program/binding.hpp"

namespace etalon::conformance {
namespace {

using reference::Envelope;
using reference::Envelopes;
using spec::Mode;

[[nodiscard]] bool is_real(DType dtype) { return kind_of(dtype) == Kind::real; }

/// A tensor of numbers, and in which envelope they really lie, where they are not known.
struct Known {
  HostTensor numbers;
  std::optional<Envelope> within{};
};

using Knowns = std::map<std::string, Known>;

/// What lies in the envelope; nothing where some of it may be something else than a number.
[[nodiscard]] std::optional<Known> known_within(Envelope e) {
  if (std::any_of(e.flags.begin(), e.flags.end(), [](std::uint8_t f) { return f != reference::admits_finite; })) return std::nullopt;
  if (!is_real(e.dtype) && !e.alternatives.empty()) return std::nullopt;
  Known known{HostTensor(e.dtype, e.dims)};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < e.flags.size(); ++i) {
    if (!is_real(e.dtype)) {
      if (std::abs(static_cast<double>(e.exact[i])) > 0x1p53) return std::nullopt;
      set_element(known.numbers, i, static_cast<double>(e.exact[i]));
      continue;
    }
    e.reference[i] = std::clamp(e.reference[i], e.lower[i], e.upper[i]);
    set_element(known.numbers, i, e.reference[i]);
    // What is not rounded to the type lies beside what is.
    if (e.lower[i] == e.upper[i]) continue;
    e.lower[i] = std::nextafter(e.lower[i], -infinity);
    e.upper[i] = std::nextafter(e.upper[i], infinity);
  }
  if (is_real(e.dtype)) known.within = std::move(e);
  return known;
}

[[nodiscard]] Envelope envelope_of(const Known& known) {
  if (known.within) return *known.within;
  Envelope e;
  e.dims = known.numbers.dims;
  e.dtype = known.numbers.dtype;
  for (std::size_t i = 0; i < static_cast<std::size_t>(e.dims.count()); ++i) {
    const double x = element(known.numbers, i);
    e.reference.push_back(x);
    e.lower.push_back(x);
    e.upper.push_back(x);
    e.deviation.push_back(std::numeric_limits<double>::infinity());
    e.flags.push_back(reference::admits_finite);
    if (!is_real(e.dtype)) e.exact.push_back(static_cast<std::int64_t>(x));
  }
  return e;
}

/// Contributions to one cotangent, added in any order.
[[nodiscard]] Envelope sum_of(const std::vector<Known>& terms) {
  Envelope sum = envelope_of(terms[0]);
  const double u = std::ldexp(1.0, -spec::format_of(sum.dtype).precision);
  std::vector<double> sizes(sum.lower.size(), 0);
  const auto grow = [&](const Envelope& e, std::size_t i) { sizes[i] += std::max(std::abs(e.lower[i]), std::abs(e.upper[i])); };
  for (std::size_t i = 0; i < sizes.size(); ++i) grow(sum, i);
  for (std::size_t t = 1; t < terms.size(); ++t) {
    const Envelope e = envelope_of(terms[t]);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sum.reference[i] += e.reference[i];
      sum.lower[i] += e.lower[i];
      sum.upper[i] += e.upper[i];
      grow(e, i);
    }
  }
  // Each addition rounds, here too; subnormal sums are exact or off by less than the least number.
  const double roundings = static_cast<double>(4 * terms.size());
  for (std::size_t i = 0; i < sizes.size() && terms.size() > 1; ++i) {
    const double off = roundings * u * sizes[i] + std::ldexp(1.0, spec::format_of(sum.dtype).emin);
    sum.lower[i] -= off;
    sum.upper[i] += off;
  }
  return sum;
}

class Walk {
 public:
  Walk(const spec::Request& request, const spec::Contract& contract)
      : request_(request), contract_(contract), library_(spec::library_of(request.program)) {
    for (std::size_t i = 0; i < request.inputs.size(); ++i) values_[request.program.inputs[i].name] = {request.inputs[i]};
  }

  [[nodiscard]] std::optional<Envelopes> run() {
    if (request_.mode == Mode::jvp_of_vjp) return std::nullopt;
    if (request_.mode == Mode::jvp) {
      for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
        if (i < request_.wrt.size() && request_.wrt[i] && request_.tangents[i]) tangents_[request_.program.inputs[i].name] = {*request_.tangents[i]};
      }
    }
    const auto& steps = request_.program.steps;
    for (const auto& step : steps) {
      const auto* call = std::get_if<spec::Call>(&step);
      if (call == nullptr || !forwards(*call)) return std::nullopt;
    }
    Envelopes all;
    for (const std::string& name : request_.program.outputs) all.outputs.push_back(envelope_of(values_.at(name)));
    if (request_.mode == Mode::jvp) add_tangents(all);
    if (request_.mode == Mode::vjp) {
      seed();
      for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (!backwards(std::get<spec::Call>(*step))) return std::nullopt;
      }
      if (!add_cotangents(all)) return std::nullopt;
    }
    return all;
  }

 private:
  /// The call on what is known of its operands, as a request in the mode of the whole.
  [[nodiscard]] spec::Request alone(const spec::Call& call) const {
    std::map<std::string, HostTensor> numbers;
    for (const std::string& name : spec::values_read(call)) numbers[name] = values_.at(name).numbers;
    spec::Request request = single_call(request_, call, numbers);
    request.wrt.clear();
    for (const HostTensor& t : request.inputs) request.wrt.push_back(is_real(t.dtype));
    return request;
  }

  /// Hulls of all ways in which the request may be answered on operands and seeds known so far.
  /// \param seeds of the last inputs of every system that answers more than values
  [[nodiscard]] std::optional<std::vector<Known>> answers(const spec::Request& request, const spec::Call& call, const std::vector<const Known*>& seeds) const {
    const Question question = question_of(request);
    std::vector<Schema> ways{Schema{question.system, question.inputs}};
    if (const auto c = case_of(request)) {
      // Laws are tried on the whole: among boxes that forget how errors hang together they would admit too much. Beside nothing a
      // schema is held to the meaning, which the hull of ways is not.
      for (Schema& schema : other_schemas(*c, request.mode)) {
        if (!schema.by_law && !schema.beside_nothing) ways.push_back(std::move(schema));
      }
    } else if (library_.named(call.operation).part_count > 0) {
      return std::nullopt;
    }
    const std::vector<std::string> read = spec::values_read(call);
    std::optional<Envelopes> hull;
    for (const Schema& way : ways) {
      std::vector<const Envelope*> within(way.inputs.size(), nullptr);
      const auto put = [&](std::size_t at, const Known& known) { within[at] = known.within ? &*known.within : nullptr; };
      for (std::size_t i = 0; i < read.size(); ++i) put(i, values_.at(read[i]));
      // What `also` says of values alone has no seeds.
      const bool seeded = way.inputs.size() >= read.size() + seeds.size();
      for (std::size_t s = 0; seeded && s < seeds.size(); ++s) {
        if (seeds[s] != nullptr) put(way.inputs.size() - seeds.size() + s, *seeds[s]);
      }
      Envelopes one = envelopes_of(way, contract_, within);
      if (hull) widen(*hull, one);
      else hull = std::move(one);
    }
    std::vector<Known> found;
    for (Envelope& e : hull->outputs) {
      auto known = known_within(std::move(e));
      if (!known) return std::nullopt;
      found.push_back(std::move(*known));
    }
    return found;
  }

  [[nodiscard]] bool forwards(const spec::Call& call) {
    spec::Request request = alone(call);
    std::vector<const Known*> seeds;
    const bool along = moves(call);
    request.mode = along ? Mode::jvp : Mode::forward;
    if (!along) request.wrt.assign(request.wrt.size(), false);
    const std::vector<std::string> read = spec::values_read(call);
    for (std::size_t i = 0; along && i < read.size(); ++i) {
      request.tangents.emplace_back();
      if (!request.wrt[i]) continue;
      const auto found = tangents_.find(read[i]);
      seeds.push_back(found == tangents_.end() ? nullptr : &found->second);
      const HostTensor& x = request.inputs[i];
      request.tangents.back() = found == tangents_.end() ? HostTensor(x.dtype, x.dims) : found->second.numbers;
    }
    auto found = answers(request, call, seeds);
    if (!found) return false;
    std::size_t tangent = call.results.size();
    for (std::size_t r = 0; r < call.results.size(); ++r) {
      const bool real = is_real((*found)[r].numbers.dtype);
      values_[call.results[r]] = std::move((*found)[r]);
      if (along && real) tangents_[call.results[r]] = std::move((*found)[tangent++]);
    }
    return true;
  }

  /// Whether something that the call reads has a tangent.
  [[nodiscard]] bool moves(const spec::Call& call) const {
    const std::vector<std::string> read = spec::values_read(call);
    return std::any_of(read.begin(), read.end(), [&](const std::string& name) { return tangents_.contains(name); });
  }

  void seed() {
    for (std::size_t o = 0; o < request_.program.outputs.size(); ++o) {
      if (o < request_.cotangents.size() && request_.cotangents[o]) cotangents_[request_.program.outputs[o]].push_back({*request_.cotangents[o]});
    }
  }

  [[nodiscard]] std::optional<Known> cotangent_of(const std::string& name) const {
    const auto found = cotangents_.find(name);
    if (found == cotangents_.end()) return std::nullopt;
    if (found->second.size() == 1) return found->second[0];
    return known_within(sum_of(found->second));
  }

  [[nodiscard]] bool backwards(const spec::Call& call) {
    spec::Request request = alone(call);
    request.mode = Mode::vjp;
    std::vector<Known> held;
    held.reserve(call.results.size());
    std::vector<const Known*> seeds;
    bool any = false;
    for (const std::string& name : call.results) {
      const HostTensor& y = values_.at(name).numbers;
      request.cotangents.emplace_back();
      if (!is_real(y.dtype)) continue;
      auto cotangent = cotangent_of(name);
      if (!cotangent && cotangents_.contains(name)) return false;
      any = any || cotangent.has_value();
      held.push_back(cotangent ? std::move(*cotangent) : Known{HostTensor(y.dtype, y.dims)});
      request.cotangents.back() = held.back().numbers;
      seeds.push_back(&held.back());
    }
    if (!any || std::find(request.wrt.begin(), request.wrt.end(), true) == request.wrt.end()) return true;
    auto found = answers(request, call, seeds);
    if (!found) return false;
    const std::vector<std::string> read = spec::values_read(call);
    std::size_t next = call.results.size();
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (request.wrt[i]) cotangents_[read[i]].push_back(std::move((*found)[next++]));
    }
    return true;
  }

  void add_tangents(Envelopes& all) const {
    for (const std::string& name : request_.program.outputs) {
      const HostTensor& y = values_.at(name).numbers;
      if (!is_real(y.dtype)) continue;
      const auto found = tangents_.find(name);
      all.outputs.push_back(envelope_of(found == tangents_.end() ? Known{HostTensor(y.dtype, y.dims)} : found->second));
    }
  }

  [[nodiscard]] bool add_cotangents(Envelopes& all) const {
    for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
      if (i >= request_.wrt.size() || !request_.wrt[i]) continue;
      const std::string& name = request_.program.inputs[i].name;
      const auto cotangent = cotangent_of(name);
      if (!cotangent && cotangents_.contains(name)) return false;
      all.outputs.push_back(envelope_of(cotangent ? *cotangent : Known{HostTensor(request_.inputs[i].dtype, request_.inputs[i].dims)}));
    }
    return true;
  }

  const spec::Request& request_;
  const spec::Contract& contract_;
  spec::Library library_;
  Knowns values_, tangents_;
  std::map<std::string, std::vector<Known>> cotangents_;
};

}  // namespace

std::optional<Envelopes> call_by_call(const spec::Request& request, const spec::Contract& contract) {
  return Walk(request, contract).run();
}

}  // namespace etalon::conformance
