// Tensors and calls of the protocol.
#pragma once
#include <nlohmann/json.hpp>

#include "core.h"

using Json = nlohmann::json;

struct Given {  // a tensor of a request: its buffer and how it lies in it
  DT dt;
  Dims shape, stride;
  Int offset = 0;
  std::vector<Real> data;
};
DT dtype_of(const std::string& name);
Given decode(const Json& t);
Json encode(const std::vector<Real>& v, DT dt, const Dims& shape);
Attrs attributes_of(const Json& a);
