/// \file
/// Logs as a page of their own: every section, step and equation opens and closes. It asks for nothing and runs nothing.
#pragma once

#include <string>

#include "tools/log/log.hpp"

namespace etalon::logging {

[[nodiscard]] std::string to_html(const Log& log);

}  // namespace etalon::logging
