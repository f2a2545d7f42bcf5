// etalon-power: how many defects each rule of comparison finds, and how often it is wrong.
#include <CLI/CLI.hpp>

#include "tools/power/compare.hpp"
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
  etalon::power::CompareOptions compare;
  CLI::App* comparing = app.add_subcommand(
      "compare", "Judge every mutant and the conforming twins by the bounds and by fixed tolerances");
  comparing->add_option("--cases", compare.cases, "Of each operation, check and element type");
  comparing->add_option("--runs", compare.runs, "Of the simulator on each case");
  comparing->add_option("--seed", compare.seed, "Of the cases");
  comparing->add_option("--ops", compare.operations, "Only these operations")->delimiter(',');
  comparing->add_option("--jobs", compare.jobs, "Threads");
  comparing->add_option("--json", compare.json, "A file for all numbers");
  comparing->add_option("--markdown", compare.markdown, "A file for the page; the console where none is given");
  comparing->add_option("--plot", compare.plot, "A file for the picture, as SVG");
  CLI11_PARSE(app, argc, argv);
  return scoring->parsed() ? etalon::power::run_score(score) : etalon::power::run_compare(compare);
}
