#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/command/command.hpp"
#include "tools/command/here.hpp"

#ifdef ETALON_HAS_COMPILED
#include <fmt/format.h>

#include <tuple>

#include "spec/error.hpp"
#include "tools/assurance/explained.hpp"
#include "tools/assurance/trace.hpp"
#include "training/certificate/audit.hpp"
#endif

namespace etalon::command {
namespace {

constexpr const char* dispute_examples = R"(
Two folders of one run, of which one is wrong: the first interval in which they differ is computed again. With a trace of each
nothing is computed again: the first step whose values differ is named, its assignment, and who is outside its bounds there. Each
side writes its own, on its own machine: etalon trace.

Examples
  etalon dispute ours theirs
  etalon dispute ours theirs --explained trace --explained their-trace --contract pytorch.json
Exit status: 0 they do not differ, 1 they do, 2 usage or set-up error.)";

constexpr const char* trace_examples = R"(
The interval is computed again from the nearest checkpoint before it, with every value of its steps kept, and written as
safetensors files. Nothing in the run's folder changes.

Examples
  etalon trace r --interval 7 -o trace
  etalon dispute r theirs --explained trace --explained their-trace)";

}  // namespace

#ifdef ETALON_HAS_COMPILED

namespace {

struct DisputeWords {
  std::string first, second, contract = "cpu";
  std::vector<std::string> traces;
  Here here;
};

int dispute_traces(const DisputeWords& words) {
  if (words.traces.size() != 2) throw SpecViolation(fmt::format("dispute: --explained {} times, expected once for each folder", words.traces.size()));
  const training::Replay first(words.first, {}), second(words.second, {});
  const auto interval = training::first_interval_apart(first, second);
  if (!interval) {
    std::cout << fmt::format("{} intervals are the same\n", std::min(first.lines().size(), second.lines().size()));
    return 0;
  }
  const spec::Contract contract = contract_of(words.contract);
  assurance::Explanation a(first.declaration(), words.traces[0], contract, words.here.data),
      b(second.declaration(), words.traces[1], contract, words.here.data);
  const assurance::DisputedInterval found = assurance::dispute({a, first.lines()}, {b, second.lines()}, *interval);
  std::cout << fmt::format("interval {}, to step {}, is the first that differs\n", *interval + 1, first.lines()[*interval].step);
  if (found.step) {
    std::cout << fmt::format("step {} is the first whose values differ, or leave their bounds\n{}", found.step->step,
                             to_text(found.step->comparison, {words.first, words.second}));
  }
  for (const auto& [path, departure] : {std::pair(words.first, found.departures[0]), std::pair(words.second, found.departures[1])}) {
    if (!departure.empty()) std::cout << fmt::format("{}: its trace does not come to its journal: {}\n", path, departure);
  }
  if (!found.step && found.departures[0].empty() && found.departures[1].empty()) std::cout << "the traces do not differ in it\n";
  return 1;
}

int dispute(const DisputeWords& words) {
  if (!words.traces.empty()) return dispute_traces(words);
  const training::Replay first(words.first, words.here.options()), second(words.second, words.here.options());
  const auto found = training::dispute(first, second);
  if (!found) {
    std::cout << fmt::format("{} intervals are the same\n", std::min(first.lines().size(), second.lines().size()));
    return 0;
  }
  const training::JournalLine &a = first.lines()[found->interval], &b = second.lines()[found->interval];
  std::cout << fmt::format("interval {}, to step {}, is the first that differs:\n", a.interval, a.step);
  for (const auto& [name, line, same] : {std::tuple(words.first, a, found->first), std::tuple(words.second, b, found->second)}) {
    std::cout << fmt::format("  {}: state {}, losses {}: {}\n", name, line.state.substr(0, 16), line.losses.substr(0, 16),
                             same ? "computed again, it is the same" : "computed again, it is another");
  }
  std::cout << fmt::format("for the step and its assignment: etalon trace FOLDER --interval {} of each, and dispute with both as --explained\n", a.interval);
  return 1;
}

struct TraceWords {
  std::string run, output;
  std::size_t interval = 1;
  Here here;
};

void trace(const TraceWords& words) {
  const training::TrainOptions here = words.here.options();
  const training::Replay run(words.run, here);
  const assurance::WrittenTrace written = assurance::write_trace(run, words.interval - 1, here, words.output);
  std::cout << fmt::format("{}: interval {}, steps {} to {}, {} values\n", words.output, words.interval, written.first, written.last, written.values);
}

}  // namespace

void add_dispute(Command app, Outcome& outcome) {
  Command command = app.command("dispute", "Find where two folders of one training run differ, and which of them is wrong");
  command.footer(dispute_examples);
  auto words = std::make_shared<DisputeWords>();
  command.option("first", words->first, "A folder").required();
  command.option("second", words->second, "Another folder of the same run").required();
  command.option("--explained", words->traces, "A folder with what was written down of the steps, once for each of the two").one_word();
  command.option("--contract", words->contract, "What the arithmetic of the traces promises: a name, or a file").with_default();
  words->here.add_to(command);
  command.callback([words, &outcome] { outcome.status = dispute(*words); });
}

void add_trace(Command app, Outcome& outcome) {
  Command command = app.command("trace", "Write down every value of the steps of one interval of a training run");
  command.footer(trace_examples);
  auto words = std::make_shared<TraceWords>();
  command.option("run", words->run, "The folder").required();
  command.option("--interval", words->interval, "Its number in the journal, from 1").between(1, 1000000000).required();
  command.option("-o,--output", words->output, "The folder that is written").required();
  words->here.add_to(command);
  command.callback([words, &outcome] {
    trace(*words);
    outcome.status = 0;
  });
}

#else

void add_dispute(Command app, Outcome&) {
  add_missing(app, "dispute", "Find where two folders of one training run differ, and which of them is wrong", dispute_examples);
}
void add_trace(Command app, Outcome&) {
  add_missing(app, "trace", "Write down every value of the steps of one interval of a training run", trace_examples);
}

#endif

}  // namespace etalon::command
