/// \file
/// A command line, declared: commands, their options, and the variables that take the values. What CLI11 can do of it is
/// compiled in one unit (options.cpp); its header would cost every command 14 seconds of compilation.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace etalon::command {

/// An option of a command: a handle, cheap to copy.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required() const;
  /// The value stands in the help as it is now.
  Option with_default() const;
  /// One word holds several values, separated by this character.
  Option separated_by(char separator) const;
  /// A number from `least` to `most`, both included.
  Option between(int least, int most) const;
  Option between(double least, double most) const;
  Option positive() const;
  /// One of these, which complete the word in a shell, too.
  Option one_of(const std::vector<std::string>& values) const;
  Option excludes(Option other) const;
  Option needs(Option other) const;
  /// One word per naming of the option.
  Option one_word() const;

  /// Whether the command line, the environment or the file of settings gave it. Known when the callback runs.
  [[nodiscard]] bool given() const;

 private:
  friend class Command;
  template <class Number>
  Option checked(const std::string& expected, std::function<bool(Number)> fits) const;

  CLI::Option* option_;
};

/// A command, or one inside it: a handle, cheap to copy. What it is given to write to must live until it has run.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  /// A command inside this one. One that is `hidden` does not stand in the help.
  Command command(const std::string& name, const std::string& description, bool hidden = false) const;
  void footer(const std::string& text) const;
  /// What runs when the command was named and all its words were read.
  void callback(std::function<void()> run) const;
  /// Of the commands inside, at most one; `run` is called where none was named.
  void alone(std::function<void()> run) const;
  /// Words that no option takes are no mistake.
  void allow_extras() const;

  /// An option with a value: `--name`, `-n,--name`, or `name` for one that stands without a dash.
  /// \tparam T std::string, double, unsigned, std::uint64_t, std::int64_t, or a vector of strings or unsigned numbers
  template <class T>
  Option option(const std::string& name, T& value, const std::string& help) const;
  /// A switch. A flag that may have a value, as `--log{all}`, writes it to a string.
  Option flag(const std::string& name, bool& value, const std::string& help) const;
  Option flag(const std::string& name, std::string& value, const std::string& help) const;

  [[nodiscard]] CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

/// The command line lacks an argument. Ends with one line and status 2. \throws always
[[noreturn]] void missing_argument(const std::string& name);

}  // namespace etalon::command
