/// \file
/// Manual pages, written from the same declarations that `--help` prints.
#pragma once

#include <filesystem>

namespace CLI {
class App;
}  // namespace CLI

namespace etalon::command {

/// Writes `etalon.1` and, for each command that stands in the help, `etalon-COMMAND.1` into the folder, which is made. The commands
/// inside one stand on its page. Pages are roff for man(7), section 1. \throws IoError
void write_manual(const CLI::App& program, const std::filesystem::path& folder);

}  // namespace etalon::command
