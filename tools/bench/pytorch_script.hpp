/// \file
/// The text of peers/pytorch.py, so that an installed command has it too.
#pragma once

namespace etalon::bench {

extern const char* const pytorch_script;

}  // namespace etalon::bench
