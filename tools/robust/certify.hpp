/// \file
/// Which rows a model answers right wherever the row lies in a box, in every conforming evaluation. It reads no file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/bounds/boxes.hpp"
#include "spec/contract/contract.hpp"
#include "tools/robust/classifier.hpp"

namespace etalon::robust {

/// A way of bounding, by the name that the field has for it.
struct Method {
  std::string_view name;
  reference::bounds::Narrowing narrowing;
};

/// ibp, sweep, crown, best.
[[nodiscard]] const std::vector<Method>& methods();

/// How far each number of a row may be off, as it was written: 1/64, 0.01.
struct Radius {
  std::string text;
  double value = 0;
};
/// \throws SpecViolation for what is neither a number that is not negative nor a quotient of two
[[nodiscard]] Radius radius_of(const std::string& text);

struct Question {
  std::vector<Radius> radii;
  std::vector<Method> methods;
  std::optional<double> least, most;  ///< numbers of a row are nowhere beyond these
  std::int64_t first = 0, end = 0;    ///< rows
};

/// Of one row.
struct Certified {
  std::int64_t row = 0;
  std::int64_t label = 0;
  std::int64_t answer = 0;      ///< the class with the largest answer to the row itself
  /// By radius, then by method: how far the label's answer stays above those of all other classes; -infinity: nothing is known.
  std::vector<double> margins;
  [[nodiscard]] bool is_right() const { return answer == label; }
};

/// \param after_row called after each row
[[nodiscard]] std::vector<Certified> certify(const Classifier& model, const Question& question, const spec::Contract& contract,
                                             const std::function<void(const Certified&)>& after_row);

/// The share of rows per radius and method, and the rows themselves where wanted.
[[nodiscard]] std::string to_text(const std::vector<Certified>& rows, const Classifier& model, const Question& question,
                                  const spec::Contract& contract, bool each);
[[nodiscard]] std::string to_json(const std::vector<Certified>& rows, const Classifier& model, const Question& question,
                                  const spec::Contract& contract);

}  // namespace etalon::robust
