#include "tools/bench/pages.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::bench;

namespace {

Measurement measured(const char* who, std::vector<double> seconds) {
  return {who, Verdict::agrees, "plain", std::move(seconds), 0.25, 0.5, 0, 0};
}

Measurement unmeasured(const char* who, Verdict verdict, const char* note) {
  return {who, verdict, note, {}, verdict == Verdict::disagrees ? 40.0 : 0.0, 0, 0, 0};
}

Run hand_made() {
  Run run;
  run.version = "9.9";
  run.date = "2000-01-01 00:00 UTC";
  run.seed = 7;
  run.seconds_per_workload = 0.5;
  run.machine = {"Abacus",   "AVX-512", 2,  {"L1 Data 32K", "L2 Unified 1024K"}, "not readable", "Slate 1",
                 "chisel 3", 0.25,      0.5};
  run.participants = {{"etalon", "E", ""}, {"slow", "S 1", ""},           {"quick", "Q 2", ""},
                      {"liar", "L", ""},   {"gone", "", "not installed"}, {"copy", "memcpy", ""}};
  Cell cell{"softmax", "rows", "softmax of rows", false, 0, 1, {}};
  cell.measurements = {measured("etalon", {4, 2, 3}),
                       measured("slow", {12, 9, 30}),
                       measured("quick", {6, 6.5, 5}),
                       unmeasured("liar", Verdict::disagrees, ""),
                       {"copy", Verdict::limit, "", {1}, 0, 0, 0, 0, 0}};
  run.cells.push_back(cell);
  cell = {"first-call-moons", "first-call", "first call", true, 0, 1, {measured("etalon", {0.5})}};
  cell.measurements[0].peak_bytes = 5 << 20;
  cell.measurements[0].process_bytes = 50 << 20;
  cell.measurements[0].loaded_peak_bytes = 3 << 20;
  run.cells.push_back(cell);
  for (const auto& [name, seconds] :
       {std::pair{"moons-forward", 2.0}, std::pair{"moons-jvp", 5.0}, std::pair{"moons-vjp", 7.0}}) {
    run.cells.push_back({name,
                         "derivatives",
                         "d",
                         false,
                         0,
                         2,
                         {measured("etalon", {seconds}), unmeasured("slow", Verdict::late, "no answer within 1 s")}});
  }
  return run;
}

std::string json_of(const Run& run) {
  std::ostringstream out;
  write_json(out, run);
  return out.str();
}

template <class F>
std::string text_of(F&& write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the_standing_is_the_best_peer_that_agrees_over_etalon", "[pages]") {
  const Run run = hand_made();
  const Standing s = standing_of(run.cells[0]);
  REQUIRE(s.peer != nullptr);
  CHECK(s.peer->competitor == "quick");
  CHECK(s.copy != nullptr);
  CHECK(s.ratio == 2);  // 6 over 3
  CHECK_FALSE(standing_of(run.cells[1]).ratio);
}

TEST_CASE("a_run_is_read_back_as_it_was_written", "[pages]") {
  const std::string written = json_of(hand_made());
  CHECK(json_of(read_json(written, "run.json")) == written);
}

TEST_CASE("what_is_no_run_is_refused_by_name", "[pages]") {
  CHECK_THROWS_WITH(read_json("{}", "x.json"), "x.json: not a run of etalon bench");
  CHECK_THROWS_WITH(read_json("{\"schema\": \"etalon-bench\"", "x.json"), "x.json: not a run of etalon bench");
  CHECK_THROWS_AS(read_json("{\"schema\": \"etalon-bench\", \"schema_version\": 1}", "x.json"), IoError);
  CHECK_THROWS_WITH(read_json("{\"schema\": \"etalon-bench\", \"schema_version\": 99}", "x.json"),
                    "x.json: written in version 99 of the form, this reads version 1");
}

TEST_CASE("a_page_has_machine_ratios_and_what_is_not_quoted", "[pages]") {
  const Run run = hand_made();
  const std::string plots[] = {"page-1.svg"};
  const std::string page = text_of([&](std::ostream& out) { write_markdown(out, std::span(&run, 1), plots); });
  for (const char* part :
       {"## Abacus, 2000-01-01 00:00 UTC", "| processor | Abacus |", "L1 Data 32K, L2 Unified 1024K",
        "0.25 before, 0.50 after", "| gone | not measured: not installed |", "](page-1.svg)", "| rows | 2.00 | |",
        "| softmax | 1 | 3.00 s | 12.0 s | **6.00 s** | disagrees | 1.00 s | 2.00 | 2.50 |",
        "`softmax`, 1 thread: liar: outputs are 40 times the allowed error away",
        "`moons-jvp`, 2 threads: slow: no answer within 1 s", "| moons | 2 | etalon | 2.50 | 3.50 |",
        "| first-call-moons | etalon | 3.0 MiB | 5.0 MiB | 50.0 MiB |",
        "`softmax`, 1 thread: etalon plain, slow plain, quick plain"}) {
    INFO(part);
    CHECK(holds(page, part));
  }
  CHECK_FALSE(holds(page, "nan"));
  CHECK_FALSE(holds(page, "Others ran"));
  Run busy = run;
  busy.machine.load_before = 3;
  CHECK(holds(text_of([&](std::ostream& out) { write_markdown(out, std::span(&busy, 1), plots); }), "Others ran"));
}

TEST_CASE("a_run_without_decisions_is_told_as_ratios", "[pages]") {
  Run run = hand_made();
  for (Participant& p : run.participants) {
    if (p.name == "quick") p.name = "without-fusion";
  }
  for (Cell& cell : run.cells) {
    for (Measurement& m : cell.measurements) {
      if (m.competitor == "quick") m.competitor = "without-fusion";
    }
  }
  const std::string page = text_of([&](std::ostream& out) { write_markdown(out, std::span(&run, 1), {}); });
  INFO(page);
  CHECK(holds(page, "### What each decision of the compiler buys"));
  CHECK(holds(page, "| softmax | 1 | 3.00 s |"));
  CHECK(holds(page, " 2.00 |"));
  CHECK_FALSE(holds(page, "### rows"));
}

TEST_CASE("a_plot_has_a_bar_per_ratio", "[pages]") {
  const Run run = hand_made();
  const std::string svg = text_of([&](std::ostream& out) { write_plot(out, run); });
  CHECK(holds(svg, "class=\"one-thread faster\""));
  CHECK(holds(svg, ">softmax<"));
  CHECK_FALSE(holds(svg, "moons"));  // nobody to compare with
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
}

TEST_CASE("a_table_names_the_best_peer", "[pages]") {
  const std::string table = text_of([](std::ostream& out) { write_table(out, hand_made()); });
  CHECK(holds(table, "quick                6.00 s     2.00"));
  CHECK(holds(table, "liar disagrees, 40 times the allowed error; its time is not quoted"));
}
