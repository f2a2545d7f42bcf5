/// \file
/// The parts of `etalon explain`, each read off the equations of a sample call. It knows no operation by name.
#pragma once

#include <iosfwd>

#include "conformance/case.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::command {

/// The types and attributes of the sample call.
void print_call(std::ostream& out, const spec::Definition& definition, const conformance::CallTypes& call, const spec::Instance& instance);
/// The equations that the call stands for.
void print_equations(std::ostream& out, const spec::System& system);
/// Where the equations have values and derivatives, and what is chosen at kinks.
void print_domain(std::ostream& out, const spec::System& system);
/// The equations of the cotangents.
void print_derivative(std::ostream& out, const spec::System& system);
/// Operands, results and cotangents in numbers, with the interval that careful IEEE arithmetic admits for each.
void print_example(std::ostream& out, const conformance::Case& sample, const spec::System& system);

}  // namespace etalon::command
