/// \file
/// The files that a kernel is compiled and run with, as they stand in the sources.
#pragma once

#include <string_view>

namespace etalon::conformance {

[[nodiscard]] std::string_view kernel_header();   ///< etalon_kernel.h
[[nodiscard]] std::string_view backend_header();  ///< spec/backend.h, which it includes
[[nodiscard]] std::string_view host_in_c();
[[nodiscard]] std::string_view host_in_python();
[[nodiscard]] std::string_view reach_in_python();        ///< reach.py: what an interpreter reads
[[nodiscard]] std::string_view kernel_verdict_schema();  ///< docs/kernel-verdict.schema.json

}  // namespace etalon::conformance
