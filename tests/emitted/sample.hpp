/// \file
/// A sample of the library that a backend is held to which takes long to make each case: what will be asked is noted first, so that it can
/// be made many at a time.
#pragma once

#include <string>
#include <vector>

#include "conformance/conform.hpp"
#include "spec/backend.hpp"
#include "spec/system/system.hpp"

namespace etalon::test {

/// Values, JVP and VJP of those operations in f32 and f64.
[[nodiscard]] conformance::ConformOptions sample_of(const std::string& backend, const std::vector<std::string>& operations);

/// The systems that a run would ask a backend of whole systems for.
[[nodiscard]] std::vector<spec::System> systems_asked(const conformance::ConformOptions& options);

/// Runs the sample and expects that all of it conforms and nothing is unsupported.
void check_conforms(const conformance::ConformOptions& options, spec::Backend& backend);

}  // namespace etalon::test
