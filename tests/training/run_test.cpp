#include "training/run/run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/sha256.hpp"
#include "tests/training/simulated_storage.hpp"
#include "training/data/dataset.hpp"
#include "training/files/npz.hpp"
#include "training/files/safetensors.hpp"
#include "training/files/starting_values.hpp"
#include "training/tasks/tasks.hpp"
#include "training/trainer.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

Dataset points() {
  const Dataset data = half_moons(22, 0.1, 3);
  Dataset rows{2, 0, data.inputs};
  for (const std::int64_t label : data.labels) rows.numbers.push_back(label == 0 ? 1.0F : -1.0F);
  return rows;
}

/// 44 rows in batches of 8: 5 in an epoch, 4 rows left out, 15 steps.
Trainer trainer_of(std::uint64_t seed = 5) { return Trainer(moons(), points(), {seed, 3, 8, true, 1}); }

Declaration declaration(const Trainer& trainer, std::int64_t interval = 4) {
  Declaration d;
  d.task = "moons";
  d.program = trainer.step_text();
  d.data = std::string(64, 'd');
  d.epochs = 3;
  d.steps = trainer.steps();
  d.interval = interval;
  return d;
}

/// What a run left: files by path, without what it was saved through.
struct Left {
  std::string journal;
  std::string state;
  std::vector<double> losses;
  Ending ending;
};

/// One compilation for many runs, each of which gives the trainer all of its state.
class Process {
 public:
  /// Trains what is in the folder `r`, which is made where it is not there, and stops after so many steps.
  Left train(const std::shared_ptr<SimulatedStorage>& storage, std::optional<std::int64_t> most = std::nullopt) {
    const bool there = storage->exists("r/run.json");
    Run run = there ? Run::open(storage, "r") : Run::begin(storage, "r", declaration(trainer_), first_);
    Left left;
    Onlookers onlookers;
    onlookers.after_step = [&](const StepRecord& record) { left.losses.push_back(record.epoch_loss); };
    onlookers.should_stop = [&] { return most && static_cast<std::int64_t>(left.losses.size()) == *most; };
    run.restore(trainer_, onlookers);
    left.ending = run.train(trainer_, onlookers);
    left.state = sha256_of(safetensors_of(trainer_.state().download()));
    left.journal = storage->read("r/journal.jsonl");
    return left;
  }

 private:
  Trainer trainer_ = trainer_of();
  Named first_ = trainer_.state().download();
};

}  // namespace

TEST_CASE("a_run_that_is_stopped_anywhere_comes_to_the_uninterrupted_bits", "[run]") {
  Process process;
  const Left whole = process.train(std::make_shared<SimulatedStorage>());
  REQUIRE(whole.ending.status == Ending::Status::finished);
  REQUIRE(whole.losses.size() == 15);
  // The run in a folder is the run without one.
  Trainer alone = trainer_of();
  std::vector<double> losses;
  alone.run([&](const StepRecord& record) { losses.push_back(record.epoch_loss); });
  CHECK(losses == whole.losses);
  CHECK(sha256_of(safetensors_of(alone.state().download())) == whole.state);
  for (std::int64_t first = 1; first < 15; ++first) {
    const auto storage = std::make_shared<SimulatedStorage>();
    Left one = process.train(storage, first);
    CHECK(one.ending.status == Ending::Status::stopped);
    CHECK(one.ending.saved == first);
    Left two = process.train(storage, 1);  // and again after one more step
    const Left last = process.train(storage);
    CHECK(last.ending.status == Ending::Status::finished);
    CHECK(last.state == whole.state);
    CHECK(last.journal == whole.journal);
    for (const double loss : two.losses) one.losses.push_back(loss);
    for (const double loss : last.losses) one.losses.push_back(loss);
    CHECK(one.losses == whole.losses);
  }
}

TEST_CASE("a_run_is_four_kinds_of_files_that_say_what_they_are", "[run]") {
  Process process;
  const auto storage = std::make_shared<SimulatedStorage>();
  const Left whole = process.train(storage);
  CHECK(storage->list("r") == std::vector<std::string>{"checkpoints", "journal.jsonl", "run.json"});
  const std::string text = storage->read("r/run.json");
  const Declaration declared = declaration_of(text, "run.json");
  CHECK(to_text(declared) == text);
  const RunContents contents = read_run(*storage, "r");
  CHECK(contents.id == sha256_of(text));
  CHECK(contents.newest.checkpoint.digest == whole.state);
  CHECK(contents.newest.checkpoint.position.step == 15);
  // 15 steps by 4: the last interval is shorter.
  const Journal journal(*storage, "r/journal.jsonl");
  std::vector<std::int64_t> steps;
  for (const JournalLine& line : journal.lines()) steps.push_back(line.step);
  CHECK(steps == std::vector<std::int64_t>{4, 8, 12, 15});
  CHECK(journal.lines().back().state == whole.state);
  Trainer trainer = trainer_of();
  CHECK(declared.start == sha256_of(safetensors_of(trainer.state().download())));
  CHECK(trainer.dropped() == 4);
}

TEST_CASE("an_interval_that_comes_to_other_digests_than_before_ends_training", "[run]") {
  Process process;
  for (const bool of_state : {true, false}) {
    const auto storage = std::make_shared<SimulatedStorage>();
    (void)process.train(storage);
    // The checkpoints after steps 12 and 15 are lost; the journal still has them, the third changed.
    for (const std::string& name : storage->list("r/checkpoints")) {
      if (name.starts_with("step-12") || name.starts_with("step-15")) storage->remove("r/checkpoints/" + name);
    }
    Journal journal(*storage, "r/journal.jsonl");
    std::string text;
    for (JournalLine line : journal.lines()) {
      if (line.interval == 3) (of_state ? line.state : line.losses)[5] = line.state[5] == '0' ? '1' : '0';
      text += to_text(line) + "\n";
    }
    storage->change("r/journal.jsonl", text);
    const Left left = process.train(storage);
    CHECK(left.ending.status == Ending::Status::not_repeated);
    CHECK(left.losses.size() == 4);
    CHECK(left.journal == text);
    CHECK(left.ending.why.find("interval 3, up to step 12") != std::string::npos);
  }
}

TEST_CASE("saves_that_fail_are_dropped_and_three_in_a_row_end_training", "[run]") {
  Process process;
  const Left whole = process.train(std::make_shared<SimulatedStorage>());
  const auto probe = std::make_shared<SimulatedStorage>();
  (void)process.train(probe, 1);
  const std::size_t first = probe->operations();
  bool went_on = false;
  for (std::size_t operation = 0;; ++operation) {
    const auto storage = std::make_shared<SimulatedStorage>();
    (void)process.train(storage, 1);
    storage->fail(first + operation, EIO);
    const Left left = process.train(storage);
    if (storage->operations() <= first + operation) break;
    storage->recover();
    // The last save has nothing after it that could make up for it.
    const bool finished = left.ending.status == Ending::Status::finished;
    went_on = went_on || finished;
    if (!finished) CHECK(left.ending.status == Ending::Status::not_saved);
    CHECK(left.losses.size() == 14);
    const Left again = process.train(storage);
    CHECK(again.ending.status == Ending::Status::finished);
    CHECK(again.state == whole.state);
    CHECK(again.journal == whole.journal);
  }
  CHECK(went_on);
  const auto full = std::make_shared<SimulatedStorage>();
  (void)process.train(full, 1);
  full->fail(full->operations(), ENOSPC, true);
  const Left left = process.train(full);
  CHECK(left.ending.status == Ending::Status::not_saved);
  CHECK(left.losses.size() == 11);  // after steps 4, 8 and 12
  full->recover();
  const Left again = process.train(full);
  CHECK(again.state == whole.state);
  CHECK(again.journal == whole.journal);
}

TEST_CASE("a_run_begins_in_an_empty_folder_or_one_whose_beginning_did_not_end", "[run]") {
  Trainer trainer = trainer_of();
  const Named state = trainer.state().download();
  const auto begin = [&](const std::shared_ptr<SimulatedStorage>& storage) {
    (void)Run::begin(storage, "r", declaration(trainer), state);
  };
  const auto probe = std::make_shared<SimulatedStorage>();
  begin(probe);
  const std::size_t operations = probe->operations();
  CHECK_THROWS_AS(begin(probe), SpecViolation);
  for (std::size_t operation = 0; operation < operations; ++operation) {
    const auto storage = std::make_shared<SimulatedStorage>();
    storage->fail(operation, ENOSPC, true);
    CHECK_THROWS_AS(begin(storage), IoError);
    storage->recover();
    if (storage->exists("r/run.json")) continue;  // the last syncs failed: it is there, if not for sure
    begin(storage);
    CHECK(read_run(*storage, "r").newest.checkpoint.position.step == 0);
  }
  const auto other = std::make_shared<SimulatedStorage>();
  other->make_folder("r");
  (void)other->create("r/thesis.tex");
  CHECK_THROWS_AS(begin(other), SpecViolation);
  CHECK(other->exists("r/thesis.tex"));
}

TEST_CASE("one_process_at_a_time_trains_in_a_folder", "[run]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "etalon-run-lock";
  std::filesystem::remove_all(folder);
  const std::shared_ptr<Storage> storage = file_system();
  Trainer trainer = trainer_of();
  {
    const Run run = Run::begin(storage, folder, declaration(trainer), trainer.state().download());
    CHECK_THROWS_AS(Run::open(storage, folder), SpecViolation);
  }
  CHECK(Run::open(storage, folder).id() == read_run(*storage, folder).id);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a_run_is_gone_on_with_only_as_what_it_is", "[run]") {
  Trainer trainer = trainer_of();
  const Declaration run = declaration(trainer);
  CHECK_NOTHROW(require_same(run, run, "r"));
  Declaration built = run;
  built.build = "another";
  built.contract = "another";
  CHECK_NOTHROW(require_same(run, built, "r"));
  const auto differs = [&](auto change) {
    Declaration other = run;
    change(other);
    CHECK_THROWS_AS(require_same(run, other, "r"), SpecViolation);
  };
  differs([](Declaration& d) { d.data[0] = 'e'; });
  differs([](Declaration& d) { d.model = "cnn"; });
  differs([](Declaration& d) { ++d.seed; });
  differs([](Declaration& d) { ++d.batch; });
  differs([](Declaration& d) { ++d.steps; });
  differs([](Declaration& d) { d.order = "another"; });
  differs([](Declaration& d) { d.program += "\n"; });
  // Each byte of run.json but those within a text is refused when it is changed, or makes another run.
  std::string text = to_text(run);
  for (std::size_t length = 0; length + 1 < text.size(); ++length)
    CHECK_THROWS_AS(declaration_of(text.substr(0, length), "run.json"), IoError);
  CHECK_THROWS_AS(declaration_of(std::string(100'000, '['), "run.json"), IoError);
}

TEST_CASE("counts_of_a_run_have_products_of_64_bits_and_none_is_0_that_divides", "[run][sound]") {
  Trainer trainer = trainer_of();
  Declaration run = declaration(trainer);
  run.start = std::string(64, 'a');
  run.epochs = 1;
  const auto said = [&](std::int64_t Declaration::*number, std::int64_t value) -> std::string {
    Declaration changed = run;
    changed.*number = value;
    try {
      (void)declaration_of(to_text(changed), "run.json");
    } catch (const IoError& error) {
      return error.what();
    }
    return "read";
  };
  constexpr std::int64_t most = std::int64_t{1} << 53U;
  const std::vector<std::pair<std::string, std::int64_t Declaration::*>> counts{
      {"rows", &Declaration::rows},         {"batch", &Declaration::batch},   {"grain", &Declaration::grain},
      {"dropped", &Declaration::dropped},   {"epochs", &Declaration::epochs}, {"steps", &Declaration::steps},
      {"interval", &Declaration::interval}, {"kept", &Declaration::kept},     {"patience", &Declaration::patience}};
  for (const auto& [name, count] : counts) {
    CHECK(said(count, 1) == "read");
    CHECK(said(count, most + 1) == "run.json: " + name + ": expected an integer from 0 to 9007199254740992, found 9007199254740993");
    const bool divides = name != "rows" && name != "dropped" && name != "patience";
    CHECK((said(count, 0) == "read") == !divides);
  }
  // An epoch has steps, and as many as any other.
  run.steps = 6;
  CHECK(said(&Declaration::epochs, 3) == "read");
  CHECK(said(&Declaration::epochs, 4) == "run.json: 6 steps, expected as many in each of 4 epochs");
  CHECK(said(&Declaration::epochs, 7) == "run.json: 6 steps, expected as many in each of 7 epochs");
  // Steps between checkpoints that stay are the product; in 64 bits this one is 0.
  run.interval = 4;
  CHECK(said(&Declaration::kept, most / 4) == "read");
  CHECK(said(&Declaration::kept, most / 4 + 1) ==
        "run.json: kept is 2251799813685249 intervals of 4 steps, expected at most 9007199254740992 steps");
  CHECK(said(&Declaration::kept, std::int64_t{1} << 62U).starts_with("run.json: kept: expected an integer from 0 to 9007199254740992"));
  run.interval = std::int64_t{1} << 32U;
  CHECK(said(&Declaration::kept, std::int64_t{1} << 32U).starts_with("run.json: kept is 4294967296 intervals of 4294967296 steps"));
}

TEST_CASE("what_a_run_is_called_reaches_messages_on_one_line", "[run][sound]") {
  Trainer trainer = trainer_of();
  const Declaration now = declaration(trainer);
  const std::string hostile = "a\nb\x1b[2J\r", long_one(100, 'x');
  for (std::string Declaration::*name : {&Declaration::task, &Declaration::model, &Declaration::order, &Declaration::program}) {
    Declaration run = now;
    run.*name = hostile;
    std::string said;
    try {
      require_same(run, now, "r");
    } catch (const SpecViolation& error) {
      said = error.what();
    }
    CHECK_FALSE(said.empty());
    CHECK(std::none_of(said.begin(), said.end(), [](char c) { return c >= 0 && c < 32; }));
    // Names that differ only where messages cut them are different ones.
    Declaration one = now, other = now;
    one.*name = long_one + "1";
    other.*name = long_one + "2";
    CHECK_THROWS_AS(require_same(one, other, "r"), SpecViolation);
  }
}

TEST_CASE("starting_values_are_exactly_the_parameters", "[run]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "etalon-starting-values";
  std::filesystem::create_directories(folder);
  Trainer trainer = trainer_of();
  const Parameters parameters = trainer.state().parameters();
  const Named values = trainer_of(6).state().download(Part::parameters);
  const auto file = [&](const Named& tensors, bool npz) {
    const std::filesystem::path path = folder / (npz ? "a.npz" : "a.safetensors");
    std::ofstream(path, std::ios::binary) << (npz ? npz_of(tensors) : safetensors_of(tensors));
    return path;
  };
  for (const bool npz : {false, true}) {
    CHECK(read_starting_values(file(values, npz), {}, parameters) == values);
    Named renamed = values;
    renamed["their.w1"] = renamed.at("w1");
    renamed.erase("w1");
    CHECK(read_starting_values(file(renamed, npz), {"their.w1=w1"}, parameters) == values);
    CHECK_THROWS_AS(read_starting_values(file(renamed, npz), {}, parameters), SpecViolation);
    for (const char* map : {"w1", "=w1", "w1=", "w9=w1", "their.w1=w2"}) {
      CHECK_THROWS_AS(read_starting_values(file(renamed, npz), {map}, parameters), SpecViolation);
    }
    Named missing = values, other = values;
    missing.erase("b2");
    other["b2"] = HostTensor(DType::f64, {16});
    CHECK_THROWS_AS(read_starting_values(file(missing, npz), {}, parameters), SpecViolation);
    CHECK_THROWS_AS(read_starting_values(file(other, npz), {}, parameters), SpecViolation);
  }
  Named hostile = values;
  hostile["w\n\x1b[2J"] = HostTensor(DType::f32, {1});
  for (const std::vector<std::string>& maps : {std::vector<std::string>{}, {"w\n\x1b[2=w1"}, {"w\n=w1"}}) {
    std::string said;
    try {
      (void)read_starting_values(file(hostile, false), maps, parameters);
    } catch (const SpecViolation& error) {
      said = error.what();
    }
    CHECK_FALSE(said.empty());
    CHECK(std::none_of(said.begin(), said.end(), [](char c) { return c >= 0 && c < 32; }));
  }
  std::filesystem::remove_all(folder);
}
