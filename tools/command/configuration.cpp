#include "tools/command/configuration.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/nearest.hpp"

namespace etalon::command {

namespace {

constexpr std::string_view prefix = "ETALON_";

/// Variables that say something to the library, whichever program runs it, and are options of no command.
constexpr std::array<std::string_view, 3> of_the_library{"ETALON_CACHE", "ETALON_DEBUG_DIR", "ETALON_PERF_MAP"};

std::string variable_of(const std::string& key) {
  std::string name(prefix);
  for (const char c : key) name += c == '.' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

bool is_configurable(const CLI::App& app, const CLI::Option& option) {
  return !option.get_lnames().empty() && !option.get_positional() && &option != app.get_help_ptr() && &option != app.get_help_all_ptr() &&
         option.get_lnames().front() != "version";
}

std::filesystem::path file_above(std::filesystem::path folder) {
  for (;; folder = folder.parent_path()) {
    const std::filesystem::path file = folder / "etalon.conf";
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) return file;
    if (folder == folder.parent_path()) return {};
  }
}

bool says(const CLI::Option& option, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const auto is = [&](const std::string& name) { return word == name || word.starts_with(name + "="); };
    return std::any_of(option.get_lnames().begin(), option.get_lnames().end(), [&](const std::string& name) { return is("--" + name); }) ||
           std::any_of(option.get_snames().begin(), option.get_snames().end(), [&](const std::string& name) { return word.starts_with("-" + name); });
  });
}

/// Whether a switch is on. \throws SpecViolation
bool is_on(const Setting& setting, const Given& given) {
  const std::string value = given.values.empty() ? "" : given.values.front();
  for (const char* yes : {"true", "on", "yes", "1"}) {
    if (value == yes) return true;
  }
  for (const char* no : {"false", "off", "no", "0"}) {
    if (value == no) return false;
  }
  throw SpecViolation(given.origin + ": " + setting.key + " is a switch: expected true or false, found '" + value + "'");
}

std::vector<std::string> words_of(const Setting& setting, const Given& given) {
  const std::string name = "--" + setting.option->get_lnames().front();
  if (setting.option->get_expected_max() == 0) return is_on(setting, given) ? std::vector{name} : std::vector<std::string>{};
  std::vector<std::string> words;
  for (const std::string& value : given.values) words.push_back(name + "=" + value);
  return words;
}

}  // namespace

Configuration::Configuration(const CLI::App& app, const std::filesystem::path& from) : app_(app), file_(file_above(from)) {
  collect(app, "");
  read_environment();
  if (!file_.empty()) read_file();
}

void Configuration::collect(const CLI::App& app, const std::string& before) {
  for (const CLI::Option* option : app.get_options()) {
    if (!is_configurable(app, *option) || before.empty()) continue;
    const std::string key = before + option->get_lnames().front();
    settings_.push_back({key, variable_of(key), option->get_default_str(), &app, option});
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) collect(*command, before + command->get_name() + ".");
}

const Setting* Configuration::setting_of(const std::string& key) const {
  const auto found = std::find_if(settings_.begin(), settings_.end(), [&](const Setting& s) { return s.key == key; });
  return found == settings_.end() ? nullptr : &*found;
}

void Configuration::read_environment() {
  std::vector<std::string> known(of_the_library.begin(), of_the_library.end());
  for (const Setting& s : settings_) known.push_back(s.variable);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    if (!name.starts_with(prefix)) continue;
    const auto setting = std::find_if(settings_.begin(), settings_.end(), [&](const Setting& s) { return s.variable == name; });
    if (setting != settings_.end()) in_environment_[setting->key] = text.size() > name.size() ? text.substr(name.size() + 1) : "";
    else if (std::find(known.begin(), known.end(), name) == known.end()) throw SpecViolation("environment: " + unknown_name("variable", name, known));
  }
}

void Configuration::read_file() {
  std::istringstream stream(etalon::read_file(file_));
  std::vector<std::string> known;
  for (const Setting& s : settings_) known.push_back(s.key);
  for (const CLI::ConfigItem& item : CLI::ConfigINI().from_config(stream)) {
    if (item.name == "++" || item.name == "--") continue;  // the beginning and the end of a section
    const std::string key = item.fullname();
    if (setting_of(key) == nullptr) throw SpecViolation(file_.string() + ": " + unknown_name("key", key, known));
    in_file_[key] = item.inputs;
  }
}

std::optional<Given> Configuration::given(const Setting& setting) const {
  if (const auto found = in_environment_.find(setting.key); found != in_environment_.end()) return Given{{found->second}, setting.variable};
  if (const auto found = in_file_.find(setting.key); found != in_file_.end()) return Given{found->second, file_.string()};
  return std::nullopt;
}

std::vector<std::string> Configuration::completed(const std::vector<std::string>& words) const {
  std::vector<std::string> all;
  const CLI::App* command = &app_;
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto configure = [&] {
    for (const Setting& s : settings_) {
      const auto found = s.command == command && !says(*s.option, words) ? given(s) : std::nullopt;
      if (!found) continue;
      const std::vector<std::string> more = words_of(s, *found);
      all.insert(all.end(), more.begin(), more.end());
    }
  };
  for (auto word = words.begin(); word != end; ++word) {
    const auto inner = command->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == *word; });
    // What a command itself has stands before the name of one inside it, and at the end for the innermost, where no value can
    // be taken for more of a list.
    if (!inner.empty()) {
      configure();
      command = inner.front();
    }
    all.push_back(*word);
  }
  configure();
  all.insert(all.end(), end, words.end());
  std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace etalon::command
