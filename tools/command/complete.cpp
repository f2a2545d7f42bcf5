// `etalon complete -- WORDS`: what may stand where the last word stands. The shells ask it (tools/completions).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "spec/contract/contract.hpp"
#include "spec/library/library.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {

namespace {

using Words = std::vector<std::string>;

/// Where a word stands: in which command, behind how many words without a dash, and, if so, behind which option that wants a value.
struct Place {
  CLI::App* command = nullptr;
  CLI::Option* option = nullptr;
  std::size_t position = 0;
};

bool wants_value(const CLI::Option* option) { return option != nullptr && option->get_expected_max() > 0 && option->get_type_size() > 0; }

CLI::App* inner(CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

Place behind(Place place, const std::string& word) {
  if (place.option != nullptr) {
    // Bash takes `--option=value` for three words.
    if (word != "=") place.option = nullptr;
  } else if (word.starts_with("-")) {
    CLI::Option* option = place.command->get_option_no_throw(word);
    place.option = wants_value(option) ? option : nullptr;
  } else if (CLI::App* command = inner(*place.command, word)) {
    place = {command, nullptr, 0};
  } else {
    ++place.position;
  }
  return place;
}

Words split(const std::string& text) {
  Words parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Words operations() {
  Words names;
  const spec::Library library;
  for (const spec::Definition* d : library.definitions()) names.emplace_back(d->name);
  return names;
}

/// The values that are known of an option: those that it is restricted to, or what the library has of its kind.
Words values_of(CLI::Option& option) {
  const std::string name = option.get_lnames().empty() ? option.get_name(true) : option.get_lnames().front();
  if (name == "ops" || name == "operation" || name == "OPERATION") return operations();
  if (name == "contract") return spec::contract_names();
  if (name == "backend") return backend_names();
  try {
    for (int n = 0;; ++n) {
      if (const std::string& choices = option.get_validator(n)->get_name(); !choices.empty()) return split(choices);
    }
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

CLI::Option* positional(CLI::App& app, std::size_t position) {
  const auto all = app.get_options([](CLI::Option* option) { return option->get_positional(); });
  if (position < all.size()) return all[position];
  return !all.empty() && all.back()->get_items_expected_max() > 1 ? all.back() : nullptr;
}

Words option_names(CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Words names_at(const Place& place) {
  Words names;
  for (const CLI::App* command : place.command->get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  if (CLI::Option* option = positional(*place.command, place.position)) {
    for (std::string& value : values_of(*option)) names.push_back(std::move(value));
  }
  return names;
}

/// All words that begin with `word`; of a list the last of its members is completed.
Words completions(const Place& place, std::string word) {
  Words names;
  std::string before;
  if (place.option != nullptr) {
    if (word == "=") word.clear();
    const std::size_t comma = word.rfind(',');
    before = comma == std::string::npos ? "" : word.substr(0, comma + 1);
    names = values_of(*place.option);
  } else {
    names = word.starts_with("-") ? option_names(*place.command) : names_at(place);
  }
  Words fitting;
  for (const std::string& name : names) {
    if ((before + name).starts_with(word)) fitting.push_back(before + name);
  }
  return fitting;
}

}  // namespace

void add_complete(Command app, Outcome& outcome) {
  Command command = app.command("complete", "What may stand where the last word stands, one per line: for shells", true);
  auto words = std::make_shared<Words>();
  command.option("words", *words, "The words of a command line behind `etalon`; the last one is completed");
  command.callback([=, &outcome] {
    Place place{&app.app()};
    const std::string last = words->empty() ? "" : words->back();
    for (std::size_t n = 0; n + 1 < words->size(); ++n) place = behind(place, (*words)[n]);
    for (const std::string& word : completions(place, last)) std::cout << word << '\n';
    outcome.status = 0;
  });
}

}  // namespace etalon::command
