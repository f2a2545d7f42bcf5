/// \file
/// A question about a real number that its enclosure leaves open. It knows no number type.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace etalon::reference {

/// Thrown where a comparison, a rounding or a quotient hangs on more digits than were computed; more may answer.
class Undecided final : public std::exception {
 public:
  explicit Undecided(std::string question) : text_(std::move(question)) {}

  /// Says of what it is.
  void of(const std::string& what) { text_ += " of " + what; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace etalon::reference
