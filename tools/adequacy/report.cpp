#include "tools/adequacy/report.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

namespace etalon::adequacy {
namespace {

std::string cut(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 1) + "…";
}

std::string_view cause_of(const Mutant& m) {
  if (m.unchanged < m.asked) return "what differed was admitted";
  return m.unseen > 0 ? "numbers on the way differed, and no answer" : "no number was another";
}

void row(std::string_view name, const Counts& c, std::ostream& to) {
  to << fmt::format("| {:12} | {:6} | {:10} | {:9} | {:6} | {:6} | {:>6} |\n", name, c.made, c.equivalent, c.identical,
                    c.killed, c.alive, c.killed + c.alive == 0 ? "-" : fmt::format("{:.2f}", c.percent()));
}

}  // namespace

void Counts::add(const Mutant& mutant) {
  ++made;
  switch (mutant.fate) {
    case Fate::alive:
      ++alive;
      break;
    case Fate::killed:
      ++killed;
      break;
    case Fate::equivalent:
      ++equivalent;
      break;
    case Fate::identical:
      ++identical;
      break;
  }
}

double Counts::percent() const {
  return killed + alive == 0 ? 0 : 100 * static_cast<double>(killed) / static_cast<double>(killed + alive);
}

Counts total(const std::vector<Mutant>& mutants) {
  Counts all;
  for (const Mutant& m : mutants) all.add(m);
  return all;
}

std::map<std::string, Counts> by_kind(const std::vector<Mutant>& mutants) {
  std::map<std::string, Counts> kinds;
  for (const Mutant& m : mutants) {
    kinds[std::string(name_of(m.sort))].add(m);
    kinds["all"].add(m);
  }
  return kinds;
}

std::vector<Counts> by_sort(const std::vector<Mutant>& mutants) {
  std::vector<Counts> sorts(sort_names.size());
  for (const Mutant& m : mutants) sorts[static_cast<std::size_t>(m.sort)].add(m);
  return sorts;
}

void print_table(const std::vector<Mutant>& mutants, std::ostream& to) {
  to << "| kind         |   made | equivalent | identical | killed |  alive |      % |\n"
        "|--------------|-------:|-----------:|----------:|-------:|-------:|-------:|\n";
  const auto sorts = by_sort(mutants);
  for (std::size_t k = 0; k < sorts.size(); ++k) row(sort_names[k], sorts[k], to);
  row("all", total(mutants), to);
}

void print_alive(const std::vector<Mutant>& mutants, std::ostream& to) {
  std::map<std::pair<std::string_view, Sort>, std::vector<const Mutant*>> groups;
  for (const Mutant& m : mutants) {
    if (m.fate == Fate::alive) groups[{cause_of(m), m.sort}].push_back(&m);
  }
  for (const auto& [group, members] : groups) {
    to << fmt::format("\n{}, {}: {}\n", group.first, name_of(group.second), members.size());
    for (const Mutant* m : members) {
      to << fmt::format("  {} {} {}: {} ({} of {} cases differ)\n", m->operation, m->mode, m->place, m->text,
                        m->asked - m->unchanged, m->asked);
      if (!m->sample.empty()) to << "      " << cut(m->sample, 200) << '\n';
    }
  }
}

void print_equivalent(const std::vector<Mutant>& mutants, std::ostream& to) {
  std::map<std::string, std::vector<const Mutant*>> groups;
  for (const Mutant& m : mutants) {
    if (m.fate == Fate::equivalent || m.fate == Fate::identical) groups[m.by].push_back(&m);
  }
  for (const auto& [cause, members] : groups) {
    to << fmt::format("\nequivalent, {}: {}\n", cause, members.size());
    for (const Mutant* m : members) to << fmt::format("  {} {} {}: {}\n", m->operation, m->mode, m->place, m->text);
  }
}

std::string to_json(const std::vector<Mutant>& mutants) {
  nlohmann::json all = nlohmann::json::array();
  constexpr std::string_view fates[] = {"alive", "killed", "equivalent", "identical"};
  for (const Mutant& m : mutants) {
    all.push_back({{"kind", name_of(m.sort)},
                   {"operation", m.operation},
                   {"mode", m.mode},
                   {"place", m.place},
                   {"text", m.text},
                   {"change", m.sample},
                   {"fate", fates[static_cast<std::size_t>(m.fate)]},
                   {"by", m.by},
                   {"asked", m.asked},
                   {"unchanged", m.unchanged},
                   {"unseen", m.unseen}});
  }
  return all.dump(1);
}

}  // namespace etalon::adequacy
