#include "tools/command/options.hpp"

#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>

namespace etalon::command {

Option Option::required() const { return Option(*option_->required()); }
Option Option::with_default() const { return Option(*option_->capture_default_str()); }
Option Option::separated_by(char separator) const { return Option(*option_->delimiter(separator)); }
Option Option::between(int least, int most) const { return Option(*option_->check(CLI::Range(least, most))); }
Option Option::between(double least, double most) const { return Option(*option_->check(CLI::Range(least, most))); }
Option Option::positive() const { return Option(*option_->check(CLI::PositiveNumber)); }
Option Option::one_of(const std::vector<std::string>& values) const { return Option(*option_->check(CLI::IsMember(values))); }
Option Option::excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}
Option Option::needs(Option other) const {
  option_->needs(other.option_);
  return *this;
}
Option Option::one_word() const { return Option(*option_->delimiter('\0')->allow_extra_args(false)); }
bool Option::given() const { return option_->count() > 0; }

Command Command::command(const std::string& name, const std::string& description, bool hidden) const {
  CLI::App* added = app_->add_subcommand(name, description);
  if (hidden) added->group("");
  return Command(*added);
}

void Command::footer(const std::string& text) const { app_->footer(text); }
void Command::callback(std::function<void()> run) const { app_->callback(std::move(run)); }
void Command::allow_extras() const { app_->allow_extras(); }

void Command::alone(std::function<void()> run) const {
  app_->require_subcommand(0, 1);
  app_->callback([app = app_, run = std::move(run)] {
    if (app->get_subcommands().empty()) run();
  });
}

template <class T>
Option Command::option(const std::string& name, T& value, const std::string& help) const {
  return Option(*app_->add_option(name, value, help));
}
template Option Command::option(const std::string&, std::string&, const std::string&) const;
template Option Command::option(const std::string&, std::vector<std::string>&, const std::string&) const;
template Option Command::option(const std::string&, std::vector<unsigned>&, const std::string&) const;
template Option Command::option(const std::string&, double&, const std::string&) const;
template Option Command::option(const std::string&, unsigned&, const std::string&) const;
template Option Command::option(const std::string&, std::uint64_t&, const std::string&) const;

Option Command::flag(const std::string& name, bool& value, const std::string& help) const {
  return Option(*app_->add_flag(name, value, help));
}
Option Command::flag(const std::string& name, std::string& value, const std::string& help) const {
  return Option(*app_->add_flag(name, value, help));
}

void missing_argument(const std::string& name) { throw CLI::RequiredError(name); }

}  // namespace etalon::command
