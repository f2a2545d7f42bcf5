/// \file
/// What Python says of a run and of the callable that is held, as the suite takes it.
#pragma once

#include <pybind11/pybind11.h>

#include "conformance/conform.hpp"
#include "spec/backend.hpp"

namespace etalon::python {

/// \param given `ops`, `modes`, `checks`, `dtypes`, `tier`, `seed`, `waivers` (JSON), `contract`, `name`,
/// `replay_line`,
///        `shrink_seconds`, `most_explained`; what is left out is the suite's default
/// \throws SpecViolation naming the word that is none
[[nodiscard]] conformance::ConformOptions options_of(const pybind11::dict& given);

/// \param given `name`, `version`, `dtypes`, `modes`, `ops`, `contract`, `rejects`, `layouts`, `deterministic`
[[nodiscard]] spec::Description description_of(const pybind11::dict& given);

}  // namespace etalon::python
