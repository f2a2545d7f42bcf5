/// \file
/// A rule that a text breaks, with the place: what whoever shows the text needs. It knows neither rules nor texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "spec/error.hpp"

namespace etalon::spec {

/// A place in a text, both from 1; 0 where nobody knows.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;
};

/// what() is `file:line:column: why`, without what is not known; `why` alone where no file is named.
class LocatedViolation : public SpecViolation {
 public:
  LocatedViolation(std::string_view file, Place place, const std::string& why)
      : SpecViolation(file.empty() ? why : std::string(file) + text_of(place) + ": " + why), place_(place), why_(why) {}
  [[nodiscard]] Place place() const { return place_; }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  [[nodiscard]] static std::string text_of(Place place) {
    if (place.line == 0) return "";
    return ":" + std::to_string(place.line) + (place.column == 0 ? "" : ":" + std::to_string(place.column));
  }

  Place place_;
  std::string why_;
};

}  // namespace etalon::spec
