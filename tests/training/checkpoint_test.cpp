#include "training/run/checkpoint.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "spec/sha256.hpp"
#include "tests/training/simulated_storage.hpp"
#include "training/files/safetensors.hpp"
#include "training/run/journal.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

const std::string run_id(64, 'a');

/// The checkpoint after so many intervals of 10 steps.
Snapshot snapshot(std::int64_t interval, std::size_t elements = 300) {
  const std::vector<double> values(elements, static_cast<double>(interval));
  Snapshot made{{10 * interval, 0.25, {}},
                safetensors_of({{"w", HostTensor::of(Dims{static_cast<std::int64_t>(elements)}, values)}}),
                {}};
  made.digest = sha256_of(made.state);
  return made;
}

/// A run's files, as Run has them.
struct Files {
  explicit Files(Storage& storage)
      : checkpoints(storage, "checkpoints", run_id, 100), journal(storage, "journal.jsonl") {}
  Checkpoints checkpoints;
  Journal journal;

  void save(std::int64_t interval) {
    Snapshot s = snapshot(interval);
    journal.add({interval, 10 * interval, s.digest, digest_of_losses({})});
    s.lines = journal.pending();
    checkpoints.save(s);
    journal.write();
    checkpoints.prune();
  }
};

void begin(Storage& storage) {
  storage.make_folder("checkpoints");
  storage.create("journal.jsonl")->sync();
  storage.sync_folder("");
  Checkpoints(storage, "checkpoints", run_id, 100).save(snapshot(0));
}

/// The interval whose checkpoint is loaded; its state is that of the interval, and the journal has, or gets from it,
/// every line before it.
std::int64_t loaded_interval(Storage& storage) {
  const Files files(storage);
  const Loaded loaded = files.checkpoints.load();
  const std::int64_t interval = loaded.checkpoint.position.step / 10;
  CHECK(loaded.checkpoint.digest == snapshot(interval).digest);
  CHECK(safetensors_of(loaded.checkpoint.state) == snapshot(interval).state);
  auto lines = static_cast<std::int64_t>(files.journal.lines().size());
  for (const JournalLine& line : loaded.checkpoint.lines)
    lines = std::max(lines, line.interval == lines + 1 ? line.interval : lines);
  CHECK(lines >= interval);
  return interval;
}

/// Which of the unsynced operations are done: all subsets of the last 8, with all or none of those before them.
std::vector<std::vector<bool>> subsets(std::size_t unsynced) {
  const std::size_t free = std::min<std::size_t>(unsynced, 8);
  std::vector<std::vector<bool>> all;
  for (std::size_t bits = 0; bits < std::size_t{1} << free; ++bits) {
    for (const bool before : {false, true}) {
      if (before && unsynced == free) continue;
      std::vector<bool> done(unsynced, before);
      for (std::size_t i = 0; i < free; ++i) done[unsynced - free + i] = (bits >> i & 1U) != 0;
      all.push_back(done);
    }
  }
  return all;
}

std::vector<std::string> folders(Storage& storage) { return storage.list("checkpoints"); }

}  // namespace

TEST_CASE("after_a_loss_of_power_at_any_operation_the_old_or_the_new_state_loads", "[checkpoint]") {
  SimulatedStorage storage;
  begin(storage);
  Files files(storage);
  std::int64_t saved = 0;
  std::size_t losses = 0;
  storage.watch = [&](const AtPowerLoss& lost) {
    for (const std::vector<bool>& done : subsets(lost.unsynced.size())) {
      for (const bool torn : {false, true}) {
        SimulatedStorage after(lost, done, torn);
        const std::int64_t interval = loaded_interval(after);
        if (interval != saved && interval != saved + 1) FAIL("interval " << interval << " loads after " << saved);
        ++losses;
      }
    }
  };
  // The fifth prunes: its remains are among what is not synced.
  for (std::int64_t interval = 1; interval <= 5; ++interval) {
    files.save(interval);
    saved = interval;
    storage.watch(storage.now());
  }
  CHECK(losses > 1000);
}

TEST_CASE("an_unsynced_save_would_be_found_lost", "[checkpoint]") {
  // The simulation convicts who forgets to sync: a file that is renamed before it is written for sure.
  SimulatedStorage storage;
  storage.make_folder("d");
  storage.sync_folder("");
  storage.create("d/new")->write("text");
  storage.rename("d/new", "d/final");
  storage.sync_folder("d");
  const AtPowerLoss lost = storage.now();
  REQUIRE(lost.unsynced.size() == 1);
  SimulatedStorage after(lost, {false}, false);
  CHECK(after.read("d/final").empty());
}

TEST_CASE("where_a_disk_is_full_or_fails_at_any_operation_the_state_before_loads_and_the_next_save_is_whole",
          "[checkpoint]") {
  for (const auto& [error, on] : {std::pair{ENOSPC, true}, std::pair{EIO, false}}) {
    for (std::size_t operation = 0;; ++operation) {
      SimulatedStorage storage;
      begin(storage);
      Files files(storage);
      files.save(1);
      const std::size_t first = storage.operations();
      storage.fail(first + operation, error, on);
      bool failed = false;
      try {
        files.save(2);
      } catch (const IoError&) {
        failed = true;
      }
      const bool reached = storage.operations() > first + operation;
      CHECK(failed == reached);
      const std::int64_t loaded = loaded_interval(storage);
      CHECK((loaded == 1 || loaded == 2));
      storage.recover();
      files.save(3);
      CHECK(loaded_interval(storage) == 3);
      const Journal journal(storage, "journal.jsonl");
      CHECK(journal.lines() == files.journal.lines());
      CHECK(journal.lines().size() == 3);
      // And for sure: what is not synced now is not needed.
      const AtPowerLoss lost = storage.now();
      SimulatedStorage after(lost, std::vector<bool>(lost.unsynced.size(), false), false);
      CHECK(loaded_interval(after) == 3);
      // Nor is what went before, in files that were written anew, when the next save counts on it.
      files.save(4);
      const AtPowerLoss later = storage.now();
      SimulatedStorage at_last(later, std::vector<bool>(later.unsynced.size(), false), false);
      CHECK(loaded_interval(at_last) == 4);
      if (!reached) break;
    }
  }
}

TEST_CASE("the_last_three_checkpoints_are_kept_and_every_so_many", "[checkpoint]") {
  SimulatedStorage storage;
  begin(storage);
  Files files(storage);
  for (std::int64_t interval = 1; interval <= 24; ++interval) files.save(interval);
  std::set<std::string> steps;
  for (const std::string& name : folders(storage)) steps.insert(name.substr(0, name.rfind('-')));
  CHECK(steps == std::set<std::string>{"step-0", "step-100", "step-200", "step-220", "step-230", "step-240"});
}

TEST_CASE("a_checkpoint_that_is_changed_or_cut_anywhere_is_refused_and_the_one_before_loads", "[checkpoint]") {
  SimulatedStorage storage;
  begin(storage);
  Checkpoints checkpoints(storage, "checkpoints", run_id, 100);
  checkpoints.save(snapshot(1, 20));
  const std::string folder = "checkpoints/" + folders(storage).back();
  REQUIRE(folder.starts_with("checkpoints/step-10-"));
  REQUIRE(checkpoints.load().checkpoint.position.step == 10);
  for (const std::string& file : {folder + "/state.safetensors", folder + "/manifest.json"}) {
    const std::string good = storage.read(file);
    const auto expect_refused = [&](const std::string& text) {
      storage.change(file, text);
      const Loaded loaded = checkpoints.load();
      if (loaded.checkpoint.position.step != 0 || loaded.refused.size() != 1 || loaded.refused[0].find(file) != 0)
        FAIL(file);
    };
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const int flip : {1, 0x20, 0xff}) {
        std::string text = good;
        text[at] = static_cast<char>(text[at] ^ flip);
        expect_refused(text);
      }
    }
    for (std::size_t length = 0; length < good.size(); ++length) expect_refused(good.substr(0, length));
    expect_refused(good + '\n');
    storage.change(file, good);
  }
  CHECK(checkpoints.load().refused.empty());
  CHECK_THROWS_AS(Checkpoints(storage, "checkpoints", std::string(64, 'b'), 100).load(), IoError);  // another run's
}

TEST_CASE("a_checkpoint_that_does_not_hold_is_written_anew_under_its_name", "[checkpoint]") {
  SimulatedStorage storage;
  begin(storage);
  Checkpoints checkpoints(storage, "checkpoints", run_id, 100);
  checkpoints.save(snapshot(1));
  const std::vector<std::string> names = folders(storage);
  storage.change("checkpoints/" + names.back() + "/state.safetensors", "");
  REQUIRE(checkpoints.load().checkpoint.position.step == 0);
  checkpoints.save(snapshot(1));
  CHECK(checkpoints.load().checkpoint.position.step == 10);
  checkpoints.prune();
  CHECK(folders(storage) == names);
}

TEST_CASE("positions_within_an_interval_come_back_to_the_bit", "[checkpoint]") {
  SimulatedStorage storage;
  begin(storage);
  Checkpoints checkpoints(storage, "checkpoints", run_id, 100);
  Snapshot within = snapshot(1);
  within.position = {13, 0.1 + 0.2, {0x1.921fb54442d18p+1, 5e-324, 0.1}};
  within.lines = {{1, 10, within.digest, digest_of_losses({})}};
  checkpoints.save(within);
  const Checkpoint loaded = checkpoints.load().checkpoint;
  CHECK(loaded.position.step == 13);
  CHECK(loaded.position.epoch_loss == within.position.epoch_loss);
  CHECK(loaded.position.losses == within.position.losses);
  CHECK(loaded.lines == within.lines);
}

TEST_CASE("a_journal_line_has_one_form", "[checkpoint]") {
  const JournalLine line{3, 30, std::string(64, '1'), digest_of_losses(std::vector<double>{1.0})};
  // SHA-256 of the bytes 00 00 00 00 00 00 f0 3f, by sha256sum.
  CHECK(to_text(line) == R"({"interval":3,"step":30,"state":")" + std::string(64, '1') +
                             R"(","losses":"6c3c396ed6b5c36dcae172271f462051b1266b851e92df3deea8ac65478fd712"})");
  CHECK(journal_line_of(to_text(line), "j:1") == line);
  for (const char* text :
       {"", "{}", "[]", "null", R"({"interval":3,"step":30,"state":"1","losses":"2"})", R"({"interval":-3})"}) {
    CHECK_THROWS_AS(journal_line_of(text, "j:1"), IoError);
  }
  JournalLine far = line;
  far.interval = far.step = std::int64_t{1} << 53U;
  CHECK(journal_line_of(to_text(far), "j:1") == far);
  for (std::int64_t JournalLine::*number : {&JournalLine::interval, &JournalLine::step}) {
    JournalLine beyond = far;
    ++(beyond.*number);
    CHECK_THROWS_AS(journal_line_of(to_text(beyond), "j:1"), IoError);
  }
  const std::string good = to_text(line);
  CHECK_THROWS_AS(journal_line_of(good.substr(0, good.size() - 1) + R"(,"step":30})", "j:1"), IoError);
  CHECK_THROWS_AS(journal_line_of(good.substr(0, good.size() - 1) + R"(,"more":30})", "j:1"), IoError);
}

TEST_CASE("a_journal_whose_last_line_is_cut_goes_on_whole", "[checkpoint]") {
  SimulatedStorage storage;
  storage.create("journal.jsonl");
  const auto line = [](std::int64_t interval) {
    return JournalLine{interval, 10 * interval, std::string(64, '1'), std::string(64, '2')};
  };
  storage.change("journal.jsonl", to_text(line(1)) + "\n" + to_text(line(2)).substr(0, 40));
  Journal journal(storage, "journal.jsonl");
  REQUIRE(journal.lines().size() == 1);
  journal.add(line(2));
  CHECK(journal.pending() == std::vector<JournalLine>{line(2)});
  journal.write();
  CHECK(journal.pending().empty());
  CHECK(storage.read("journal.jsonl") == to_text(line(1)) + "\n" + to_text(line(2)) + "\n");
  storage.change("journal.jsonl", to_text(line(1)) + "\n" + to_text(line(3)) + "\n");
  CHECK_THROWS_AS(Journal(storage, "journal.jsonl"), IoError);
}
