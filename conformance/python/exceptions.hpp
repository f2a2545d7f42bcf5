/// \file
/// The library's exceptions as Python's, with the line that they say.
#pragma once

namespace etalon::python {

/// ValueError for a rule of the specification, NotImplementedError for what is declined, OSError for files,
/// RuntimeError for ours.
void register_exceptions();

}  // namespace etalon::python
