/// \file
/// Asks a backend one case and judges the answer against the envelopes of the definition. It knows no operation, and
/// nothing of a backend but its interface.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/outcome.hpp"

namespace etalon::conformance {

/// A backend as the checks use it: perhaps shared between threads.
class Asked {
 public:
  virtual ~Asked() = default;
  [[nodiscard]] virtual spec::Answer run(const spec::Request& request) = 0;
  /// As those of spec::Backend.
  [[nodiscard]] virtual std::size_t foresight() const { return 0; }
  virtual void expect(std::span<const spec::Request>) {}
  [[nodiscard]] virtual std::optional<std::string> script(const spec::Request&, const std::optional<spec::Shown>&) { return std::nullopt; }
  /// Whether intermediate results that are asked for may differ from those that the next call reads.
  [[nodiscard]] virtual bool fuses() const { return false; }
};

[[nodiscard]] Outcome check(const Case& c, Asked& backend, const spec::Contract& contract);

/// What `check` asks whatever is answered. \throws SpecViolation for an ill-typed call
[[nodiscard]] std::vector<spec::Request> known_requests(const Case& c, const Asked& backend);

/// For a failed step case: the failing step alone, as a value case with the state that led to it.
[[nodiscard]] std::optional<Case> failing_step(const Case& c, Asked& backend, const spec::Contract& contract);

}  // namespace etalon::conformance
