/// \file
/// What rows are to be answered with, word by word: classes, or numbers. It knows no file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "training/data/dataset.hpp"

namespace etalon::training {

/// The words of a column, each judged when it is read.
class Targets {
 public:
  /// \param regression numbers are learned, not classes
  /// \param classes labels are whole numbers from 0 to one less; 0: whatever stands there is a class
  Targets(bool regression, std::int64_t classes) : regression_(regression), classes_(classes) {}

  /// Takes the word of the next row. A whole number is the same class however it is written.
  /// \returns what was expected in its place; empty where the word is taken
  [[nodiscard]] std::string take(std::string_view word);
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(regression_ ? numbers_.size() : ids_.size()); }

  /// Gives the data its labels or numbers. \returns the names of the classes, in order: numbers by size, else by bytes
  /// \throws IoError `WHERE: …` for fewer than two classes
  [[nodiscard]] std::vector<std::string> finish(Dataset& data, std::string_view where);

 private:
  [[nodiscard]] std::string take_number(std::string_view word);
  [[nodiscard]] std::string take_class(std::string_view word);

  bool regression_;
  std::int64_t classes_;
  std::vector<float> numbers_;
  std::vector<std::int64_t> ids_;                           ///< of classes, in the order in which they came
  std::map<std::string, std::int64_t, std::less<>> names_;  ///< of the ids
};

/// Rounded once. \returns whether the word is a number that is finite as f32
[[nodiscard]] bool read_number(std::string_view word, float& number);

}  // namespace etalon::training
