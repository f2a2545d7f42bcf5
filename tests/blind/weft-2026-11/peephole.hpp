/// \file
/// Calls on results of calls that have a simpler form. Nothing is differentiated here: the simpler form is.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph.hpp"

namespace weft {

class Peephole {
 public:
  void note(V y, const std::string& operation, const std::vector<V>& operands, const nlohmann::json& attributes,
            std::size_t result);
  /// The value of the call if it is known in a simpler form.
  V simpler(const std::string& operation, const std::vector<V>& operands, const nlohmann::json& attributes) const;

 private:
  struct Made {
    std::string operation;
    std::vector<V> operands;
    nlohmann::json attributes;
    std::size_t result = 0;
  };
  const Made* by(V y, const char* operation) const;

  std::map<int, Made> made_;
};

}  // namespace weft
