#include "spec/value_type.hpp"

namespace etalon::spec {

std::string to_string(const ValueType& type) { return std::string(name_of(type.dtype)) + to_string(type.dims); }

}  // namespace etalon::spec
