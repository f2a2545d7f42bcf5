/// \file
/// What a run reached, as one page of HTML that asks for nothing from elsewhere. It trains nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "training/plot/class_table.hpp"

namespace etalon::training {

struct Page {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  ///< what, and how much
  std::vector<std::string> pictures;                       ///< as as_svg draws them
  std::vector<ClassRow> classes;
};

/// The same page is the same bytes. Texts may be anybody's.
[[nodiscard]] std::string as_html(const Page& page);

}  // namespace etalon::training
