// etalon-power: how many defects each rule of comparison finds, and how often it is wrong.
#include <CLI/CLI.hpp>

#include "tools/power/score.hpp"

int main(int argc, char** argv) {
  CLI::App app{"How many defects the suite finds, and how often fixed tolerances are wrong about the same answers"};
  app.require_subcommand(1);
  etalon::power::ScoreOptions score;
  CLI::App* scoring = app.add_subcommand("score", "Ask every mutant the cases of a tier until one convicts it");
  scoring->add_option("--mutants", score.names, "Names of mutants; all where none is given")->delimiter(',');
  scoring->add_option("--tier", score.tier, "quick or full")->check(CLI::IsMember({"quick", "full"}));
  scoring->add_option("--seed", score.seed, "Of the cases");
  scoring->add_option("--shrink", score.attempts, "Requests spent on making a conviction small; 0 for none");
  scoring->add_option("--json", score.json, "A file for the findings");
  scoring->add_flag("--all-operations", score.all, "Ask every operation where those of the mutant do not convict it");
  CLI11_PARSE(app, argc, argv);
  return etalon::power::run_score(score);
}
