/// \file
/// What the parts of typing share: the call, the outcome as far as it is known, and what was wrong first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "spec/notation/attributes.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/names.hpp"
#include "spec/notation/static_evaluator.hpp"
#include "spec/value_type.hpp"

namespace etalon::spec {

/// The outcome of typing a call; `diagnosis` says whether the rest counts.
struct Typing {
  static constexpr std::size_t max_results = 32;

  Diagnosis diagnosis;
  Dims disagreement[2] = {};           ///< the extents that should be equal and are not, where that is what is wrong
  ValueType results[max_results] = {};
  std::size_t result_count = 0;
  Bindings attributes;                 ///< complete and normalised
  Names names;                         ///< extents, rows and lets
  std::optional<DType> common;         ///< T, the element type that unmarked operands share
  std::size_t first_slot[Definition::max_operands] = {};  ///< of each declared operand among the call's operands
  std::size_t members[Definition::max_operands] = {};     ///< how many slots it has: 1, or the length of its pack

  [[nodiscard]] constexpr bool ok() const { return diagnosis.ok(); }
};

namespace notation {

class TypingState {
 public:
  using Operands = std::span<const std::optional<ValueType>>;

  constexpr TypingState(const Definition& d, Operands operands, std::span<const std::size_t> packs,
                        const Bindings& bindings)
      : d_(d), operands_(operands), packs_(packs) {
    out_.attributes = bindings;
    out_.diagnosis = bindings.diagnosis;
    if (!d.ok()) out_.diagnosis = d.diagnosis;
  }

  /// Of a call that is typed already, for its layouts.
  constexpr TypingState(const Definition& d, const Typing& typing) : d_(d), out_(typing) {}

 protected:
  constexpr bool ok() const { return out_.diagnosis.ok(); }
  constexpr std::string_view name(std::size_t operand) const { return d_.at(d_.operands[operand].name); }

  template <class... Parts>
  constexpr void fail(std::size_t where, const Parts&... parts) {
    if (ok()) out_.diagnosis = diagnose(d_.name, ": ", parts...).at(d_.text, where);
  }
  static constexpr std::int64_t number(std::size_t n) { return static_cast<std::int64_t>(n); }

  constexpr StaticEvaluator evaluator() { return {d_, out_.names, out_.attributes, out_.diagnosis}; }

  constexpr bool present(std::size_t slot) const { return slot < operands_.size() && operands_[slot].has_value(); }

  static constexpr std::size_t max_slots = 64;
  const Definition& d_;
  Operands operands_;
  std::span<const std::size_t> packs_;
  Typing out_;
};

}  // namespace notation

}  // namespace etalon::spec
