/// \file
/// The typed edge of the reference: tensors with their shapes in their types, the library's operations on them, and
/// derivatives of generic lambdas. Operations themselves come from spec/library/.
#pragma once

#include "reference/typed_call.hpp"
#include "reference/typed_derivative.hpp"
#include "reference/typed_operators.hpp"
#include "reference/typed_tensor.hpp"
