#include "tools/command/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/quoted.hpp"

namespace etalon::command {

/// Each word must be a number of that type, which `fits`; else one line says what was expected.
template <class Number>
Option Option::checked(const std::string& expected, std::function<bool(Number)> fits) const {
  const auto complain = [expected, fits = std::move(fits)](const std::string& word) {
    Number number{};
    const char* const end = word.data() + word.size();
    const auto [stop, wrong] = std::from_chars(word.data(), end, number);
    return wrong == std::errc() && stop == end && fits(number) ? "" : "expected " + expected + ", found '" + as_quoted(word) + "'";
  };
  option_->check(CLI::Validator([complain](std::string& word) -> std::string { return complain(word); }, ""));
  return *this;
}

Option Option::required() const { return Option(*option_->required()); }
Option Option::with_default() const { return Option(*option_->capture_default_str()); }
Option Option::separated_by(char separator) const { return Option(*option_->delimiter(separator)); }
Option Option::between(int least, int most) const {
  return checked<long long>(fmt::format("a whole number from {} to {}", least, most), [=](long long n) { return n >= least && n <= most; });
}
Option Option::between(double least, double most) const {
  return checked<double>(fmt::format("a number from {} to {}", least, most), [=](double n) { return n >= least && n <= most; });
}
Option Option::positive() const { return checked<std::uint64_t>("a whole number above 0", [](std::uint64_t n) { return n > 0; }); }

Option Option::one_of(const std::vector<std::string>& values) const { 
  option_->check(CLI::Validator(
      [values](std::string& word) -> std::string {
        const bool known = std::find(values.begin(), values.end(), word) != values.end();
        return known ? "" : fmt::format("expected one of {}, found '{}'", fmt::join(values, ", "), as_quoted(word));
      },
      "", fmt::format("{}", fmt::join(values, ","))));
  return *this;
}
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
  const Option option(*app_->add_option(name, value, help));
  if constexpr (std::is_same_v<T, double>) return option.checked<double>("a number", [](double n) { return std::isfinite(n); });
  if constexpr (std::is_same_v<T, std::uint64_t>) return option.checked<std::uint64_t>("a whole number", [](std::uint64_t) { return true; });
  if constexpr (std::is_same_v<T, unsigned> || std::is_same_v<T, std::vector<unsigned>>)
    return option.checked<unsigned>("a whole number", [](unsigned) { return true; });
  if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) return option.checked<std::int64_t>("a whole number", [](std::int64_t) { return true; });
  return option;
}
template Option Command::option(const std::string&, std::string&, const std::string&) const;
template Option Command::option(const std::string&, std::vector<std::string>&, const std::string&) const;
template Option Command::option(const std::string&, std::vector<unsigned>&, const std::string&) const;
template Option Command::option(const std::string&, std::vector<std::int64_t>&, const std::string&) const;
template Option Command::option(const std::string&, double&, const std::string&) const;
template Option Command::option(const std::string&, unsigned&, const std::string&) const;
template Option Command::option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Command::option(const std::string&, std::int64_t&, const std::string&) const;

Option Command::flag(const std::string& name, bool& value, const std::string& help) const {
  return Option(*app_->add_flag(name, value, help));
}
Option Command::flag(const std::string& name, std::string& value, const std::string& help) const {
  return Option(*app_->add_flag(name, value, help));
}

void missing_argument(const std::string& name) { throw CLI::RequiredError(name); }

}  // namespace etalon::command
