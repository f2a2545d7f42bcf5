/// \file
/// Numbers for the inputs of a program that grows call by call, and what its calls make of them. It knows no operation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/draw.hpp"
#include "conformance/integers.hpp"
#include "conformance/values.hpp"
#include "reference/array.hpp"
#include "spec/notation/elaborate.hpp"
#include "spec/program/program.hpp"

namespace etalon::conformance {

/// Which numbers inputs hold. Of the mixed ones each input has a kind of its own, of `mostly_special` every other special ones.
enum class Numerals : std::uint8_t { moderate, any, mixed, mostly_special, special };

class ProgramNumbers {
 public:
  ProgramNumbers(DType dtype, Numerals numerals, Draw& draw);

  /// Draws the inputs that the last call added and computes it. False when its results are not wanted.
  [[nodiscard]] bool take(const spec::Program& program, const spec::Instance& instance);

  [[nodiscard]] const std::vector<HostTensor>& inputs() const { return inputs_; }

 private:
  using Array = reference::Array<double>;

  [[nodiscard]] bool fits(const spec::Program& program, const spec::Call& call, const spec::Instance& instance);
  /// The number that an operand which is there already holds in every place.
  [[nodiscard]] std::optional<double> constant_among(const spec::Call& call) const;
  [[nodiscard]] HostTensor drawn(const spec::Input& input, const IntegerRole& role);
  [[nodiscard]] HostTensor real(Family family, const spec::Input& input);
  [[nodiscard]] bool keeps(const spec::Call& call, const spec::Instance& instance, std::vector<Array> results);

  double largest_;
  Numerals numerals_;
  Draw& draw_;
  std::vector<HostTensor> inputs_;
  std::map<std::string, Array> values_;
};

}  // namespace etalon::conformance
