/// \file
/// Instructions, blocks and functions in the text of a module. It knows how instructions are written and not what they
/// mean.
#pragma once

#include <string>
#include <vector>

#include "conformance/interchange/stablehlo/read_attribute.hpp"

namespace etalon::conformance::stablehlo {

class OperationReader {
 public:
  OperationReader(Scanner& scan, AttributeReader& read) : scan_(scan), read_(read) {}

  /// From `func.func` on; one that has no body has no operations.
  [[nodiscard]] Function function();

 private:
  [[nodiscard]] std::vector<std::pair<std::string, Type>> arguments();
  void read_operations(Block& block);
  [[nodiscard]] Operation operation();
  void generic(Operation& op);
  void pretty(Operation& op);
  void items(Operation& op);
  bool item(Operation& op);
  void named_item(Operation& op, const std::string& name);
  void ranges(Operation& op);
  void reduction(Operation& op);
  void reducer(Operation& op, std::size_t inputs);
  void signature(Operation& op);
  void pass_over(Operation& op);
  void pass_over_location();

  Scanner& scan_;
  AttributeReader& read_;
  std::size_t depth_ = 0;
};

}  // namespace etalon::conformance::stablehlo
