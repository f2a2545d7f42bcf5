/// \file
/// Where the options of commands come from when they are not on the command line: the environment, then a file
/// `etalon.conf` in the working directory or the nearest folder above it that has one.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace etalon::command {

/// One option of one command that may be configured: every one with a long name, `--help` and the like aside.
struct Setting {
  std::string key;          ///< `conform.jobs`; in the file, also `jobs` in the section `[conform]`
  std::string variable;     ///< `ETALON_CONFORM_JOBS`
  std::string default_value;
  const CLI::App* command = nullptr;
  const CLI::Option* option = nullptr;
};

/// What the environment or the file says of a setting.
struct Given {
  std::vector<std::string> values;
  std::string origin;  ///< `ETALON_CONFORM_JOBS`, or the path of the file
};

/// What is configured for all commands of a program.
class Configuration {
 public:
  /// Reads environment and file. \throws SpecViolation naming a key that no command has, with the nearest valid one, and
  /// where it stands; IoError when the file cannot be read.
  Configuration(const CLI::App& app, const std::filesystem::path& from);

  [[nodiscard]] const std::vector<Setting>& settings() const { return settings_; }
  /// What is given for a setting, the environment before the file.
  [[nodiscard]] std::optional<Given> given(const Setting& setting) const;
  /// The words of a command line, the last first as CLI11 takes them, with what is configured for the commands that it names
  /// and it does not say itself. \throws SpecViolation for a switch that is neither true nor false.
  [[nodiscard]] std::vector<std::string> completed(const std::vector<std::string>& words) const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  void collect(const CLI::App& app, const std::string& prefix);
  void read_environment();
  void read_file();
  [[nodiscard]] const Setting* setting_of(const std::string& key) const;

  const CLI::App& app_;
  std::vector<Setting> settings_;
  std::filesystem::path file_;                              ///< empty where there is none
  std::map<std::string, std::vector<std::string>> in_file_; ///< by key
  std::map<std::string, std::string> in_environment_;       ///< by key
};

}  // namespace etalon::command
