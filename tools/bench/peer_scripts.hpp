/// \file
/// The texts of the peers in Python, so that an installed command has them too.
#pragma once

#include <map>
#include <string>

namespace etalon::bench {

/// By the names of their files in peers/, which lie in one folder where they run.
extern const std::map<std::string, std::string> peer_scripts;

}  // namespace etalon::bench
