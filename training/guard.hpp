/// \file
/// Values that must be finite, or else a run leaves the store as it was. It runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiled/runtime/store.hpp"
#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"

namespace etalon::training {

/// What must be finite.
struct Guard {
  std::vector<std::string> values{};  ///< outputs and captured values, by name
  bool updates = false;               ///< and everything that updates write
};

/// An element that is NaN or infinite.
struct NotFinite {
  std::string value;                  ///< its name; of an update the parameter's
  bool updated = false;               ///< it would have been the parameter's new value
  std::vector<std::int64_t> element;  ///< its index per axis
  double number = 0;
};

/// One line: "`h` is nan at [0, 3]", "the new `w` is inf at [2]".
[[nodiscard]] std::string to_text(const NotFinite& found);

/// The first element, row-major, that is not finite; integers and truth values always are.
[[nodiscard]] std::optional<NotFinite> first_not_finite(const std::string& name, const HostTensor& value);

/// Values by name, as a run leaves them.
using NamedValues = std::vector<std::pair<std::string, HostTensor>>;

/// The guard of one program.
class Guarding {
 public:
  Guarding() = default;  ///< guards nothing
  /// \throws SpecViolation for a name that is neither an output nor captured, with the nearest one.
  Guarding(const spec::Program& program, const Guard& guard);

  [[nodiscard]] bool is_on() const { return !values_.empty() || updates_; }
  /// Before a run: keeps what updates will overwrite.
  void remember(const compiled::Store& store);
  /// After a run: the first value, in the order in which the program computes them, then the first update, that has an
  /// element which is not finite. Then the store is what it was before the run.
  [[nodiscard]] std::optional<NotFinite> check(const NamedValues& outputs, const NamedValues& captures,
                                               compiled::Store& store) const;

 private:
  [[nodiscard]] std::optional<NotFinite> found(const NamedValues& outputs, const NamedValues& captures,
                                               const compiled::Store& store) const;

  std::vector<std::string> values_;  ///< in the program's order
  bool updates_ = false;
  std::vector<std::string> parameters_;  ///< that the program updates
  std::vector<std::optional<HostTensor>> before_;
};

/// The names among `values` in the order in which the program computes them. \throws as Guarding.
[[nodiscard]] std::vector<std::string> in_program_order(const spec::Program& program,
                                                        const std::vector<std::string>& values);

}  // namespace etalon::training
