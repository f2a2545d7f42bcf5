#include "tools/command/manual.hpp"

#include <CLI/CLI.hpp>
#include <cctype>
#include <fmt/format.h>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "spec/file.hpp"

namespace etalon::command {

namespace {

constexpr std::string_view literal_begin = ".nf\n.RS 2\n", literal_end = ".RE\n.fi\n.PP\n";

/// The text as roff prints it unchanged: what a reader copies from a page is what the shell takes.
std::string as_roff(const std::string& text) {
  std::string all;
  for (const char c : text) {
    switch (c) {
      case '\\': all += "\\(rs"; break;
      case '-': all += "\\-"; break;
      case '\'': all += "\\(aq"; break;
      case '`': all += "\\(ga"; break;
      case '^': all += "\\(ha"; break;
      case '~': all += "\\(ti"; break;
      case '"': all += "\\(dq"; break;
      default: all += c;
    }
  }
  return all.starts_with('.') ? "\\&" + all : all;
}

std::string bold(const std::string& text) { return "\\fB" + as_roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + as_roff(text) + "\\fR"; }

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::erase_if(commands, [](const CLI::App* command) { return command->get_group().empty(); });
  return commands;
}

/// `etalon pack write`
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string page_name(const CLI::App& app) {
  std::string name = full_name(app);
  for (char& c : name) c = c == ' ' ? '-' : c;
  return name;
}

/// How the option is written: `-o, --output TEXT`, or its name where it stands without a dash.
std::string heading_of(const CLI::Option& option) {
  if (option.get_positional()) return italic(option.get_name(true));
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "" : ", ") + bold("-" + name);
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "" : ", ") + bold("--" + name);
  const bool is_switch = option.get_expected_max() == 0 || option.get_type_size() == 0;
  return is_switch ? names : names + " " + italic(option.get_type_name());
}

void write_options(std::ostream& out, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
    const std::string given = option->get_default_str();
    out << ".TP\n" << heading_of(*option) << '\n' << as_roff(option->get_description());
    if (!given.empty()) out << fmt::format(" (default: {})", as_roff(given));
    out << (option->get_required() ? " (required)\n" : "\n");
  }
}

void write_synopsis(std::ostream& out, const CLI::App& app) {
  out << bold(full_name(app)) << " [" << italic("OPTIONS") << "]";
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const std::string many = option->get_items_expected_max() > 1 ? "..." : "";
    const std::string name = italic(option->get_name(true)) + many;
    out << ' ' << (option->get_required() ? name : "[" + name + "]");
  }
  if (!shown_commands(app).empty()) out << " [" << italic("COMMAND") << "]";
  out << '\n';
}

/// The text under a command's help: paragraphs, what is indented as it stands, and the two headings that these texts have.
void write_footer(std::ostream& out, const std::string& footer, std::string_view heading) {
  std::istringstream lines(footer);
  bool literal = false, section = false;
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view examples = "Examples", statuses = "Exit status: ";
    if (line.empty()) continue;
    const bool is_literal = line.starts_with("  ");
    if (is_literal != literal) out << (is_literal ? literal_begin : literal_end);
    literal = is_literal;
    if (literal) out << as_roff(line.substr(2)) << '\n';
    else if (line == examples) out << heading << "EXAMPLES\n";
    else if (line.starts_with(statuses)) out << heading << "\"EXIT STATUS\"\n.PP\n" << as_roff(line.substr(statuses.size())) << '\n';
    else out << (section ? "" : heading) << (section ? "" : "NOTES\n") << as_roff(line) << '\n';
    section = true;
  }
  if (literal) out << literal_end;
}

void write_inner(std::ostream& out, const CLI::App& app) {
  for (const CLI::App* inner : shown_commands(app)) {
    out << ".SS " << as_roff(full_name(*inner)) << '\n' << as_roff(inner->get_description()) << ".\n.PP\n";
    write_synopsis(out, *inner);
    write_options(out, *inner);
    if (inner->get_footer() != app.get_footer()) write_footer(out, inner->get_footer(), ".PP\n.B ");
    write_inner(out, *inner);
  }
}

void write_title(std::ostream& out, const CLI::App& app, std::string description) {
  while (!description.empty() && (description.back() == '\n' || description.back() == '.')) description.pop_back();
  std::string title = page_name(app);
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  out << fmt::format(".TH \"{}\" 1 \"\" \"etalon {}\" \"Etalon\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", as_roff(title), ETALON_VERSION,
                     as_roff(page_name(app)), as_roff(description));
}

void write_command(std::ostream& out, const CLI::App& app) {
  write_title(out, app, app.get_description());
  write_synopsis(out, app);
  out << ".SH OPTIONS\n";
  write_options(out, app);
  if (!shown_commands(app).empty()) out << ".SH COMMANDS\n";
  write_inner(out, app);
  write_footer(out, app.get_footer(), ".SH ");
  out << ".SH SEE ALSO\n" << bold(page_name(*app.get_parent())) << "(1)\n";
}

void write_program(std::ostream& out, const CLI::App& app) {
  write_title(out, app, app.get_description());
  write_synopsis(out, app);
  out << ".SH OPTIONS\n";
  write_options(out, app);
  out << ".SH COMMANDS\n";
  for (const CLI::App* command : shown_commands(app)) {
    out << ".TP\n" << bold(page_name(*command)) << "(1)\n" << as_roff(command->get_description()) << '\n';
  }
  write_footer(out, app.get_footer(), ".SH ");
  out << ".SH FILES\n.TP\n" << italic("etalon.conf") << "\nValues of options, in the working directory or the nearest folder above it "
      << "that has one; see " << bold("etalon-config") << "(1).\n";
}

}  // namespace

void write_manual(const CLI::App& program, const std::filesystem::path& folder) {
  make_folder(folder);
  const auto write = [&](const CLI::App& app, auto&& writer) {
    write_file(folder / (page_name(app) + ".1"), [&](std::ostream& out) { writer(out, app); });
  };
  write(program, write_program);
  for (const CLI::App* command : shown_commands(program)) write(*command, write_command);
}

}  // namespace etalon::command
