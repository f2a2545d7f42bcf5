// Steps whose leaves several processes compute: here each is a thread with a trainer of its own. Which rank owns and computes what
// changes no bit, whatever the update reads; one that goes wrong is noticed.
#include <barrier>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "training/clip.hpp"
#include "training/data/dataset.hpp"
#include "training/leaves/programs.hpp"
#include "training/ranks/meeting.hpp"
#include "training/ranks/orders.hpp"
#include "training/ranks/slices.hpp"
#include "training/shadow/shadow.hpp"
#include "training/tasks/tasks.hpp"
#include "training/trainer.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

/// Where threads meet that stand for processes.
struct Hall {
  explicit Hall(int ranks) : barrier(ranks), given(static_cast<std::size_t>(ranks)) {}
  std::barrier<> barrier;
  std::vector<std::vector<Bytes>> given;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(std::shared_ptr<Hall> hall, int rank) : hall_(std::move(hall)), rank_(rank) {}
  int rank() const override { return rank_; }
  int count() const override { return static_cast<int>(hall_->given.size()); }
  std::vector<Bytes> exchange(const std::vector<Bytes>& sent) override {
    return met(sent, [&](const std::vector<Bytes>& of) { return of.at(static_cast<std::size_t>(rank_)); });
  }
  std::vector<Bytes> gather(const Bytes& own) override {
    return met({own}, [](const std::vector<Bytes>& of) { return of.at(0); });
  }
  Bytes spread(const Bytes& of_first) override { return gather(of_first).front(); }
  void leave() override {}

 private:
  template <class Mine>
  std::vector<Bytes> met(const std::vector<Bytes>& sent, const Mine& mine) {
    hall_->given[static_cast<std::size_t>(rank_)] = sent;
    hall_->barrier.arrive_and_wait();
    std::vector<Bytes> received;
    for (const std::vector<Bytes>& of : hall_->given) received.push_back(mine(of));
    hall_->barrier.arrive_and_wait();
    return received;
  }

  std::shared_ptr<Hall> hall_;
  int rank_;
};

/// A rank whose memory loses a bit of the parameters that it receives after step `at`, from 1; 0 is the state to begin with.
class Forgetful : public ThreadRanks {
 public:
  Forgetful(std::shared_ptr<Hall> hall, int rank, int at) : ThreadRanks(std::move(hall), rank), left_(at) {}
  std::vector<Bytes> gather(const Bytes& own) override {
    std::vector<Bytes> all = ThreadRanks::gather(own);
    if (all[0].size() > 64 && left_-- == 0) all[0][2] ^= std::byte{1};
    return all;
  }

 private:
  int left_;
};

/// Points on a curve, on one of two sides.
Dataset points() {
  Dataset rows{2, 0, {}, {}, {}};
  for (int i = 0; i < 24; ++i) {
    rows.inputs.insert(rows.inputs.end(), {0.17F * static_cast<float>(i) - 1, 0.91F - 0.13F * static_cast<float>(i)});
    rows.numbers.push_back(i % 3 == 0 ? 1.0F : -1.0F);
  }
  return rows;
}

struct Trained {
  Named state;
  std::vector<double> losses;
};

TrainerOptions in_leaves(std::int64_t grain) {
  TrainerOptions options{3, 2, 12};
  options.grain = grain;
  return options;
}

Trained run(Trainer& trainer) {
  Trained result;
  trainer.run([&](const StepRecord& record) { result.losses.push_back(record.loss); });
  result.state = trainer.settled_state();
  return result;
}

/// Rank 0's work, while the others follow.
template <class Work>
void on_ranks(const Task& task, const Dataset& rows, TrainerOptions options, const std::vector<std::shared_ptr<Ranks>>& ranks, const Work& work) {
  std::vector<std::thread> others;
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    others.emplace_back([&, r, own = options]() mutable {
      own.ranks = ranks[r];
      Trainer(task, rows, own).follow();
    });
  }
  options.ranks = ranks[0];
  Trainer trainer(task, rows, options);
  work(trainer);
  give(*ranks[0], {RankOrder::Kind::end});
  for (std::thread& other : others) other.join();
}

std::vector<std::shared_ptr<Ranks>> threads(int count) {
  const auto hall = std::make_shared<Hall>(count);
  std::vector<std::shared_ptr<Ranks>> ranks;
  for (int r = 0; r < count; ++r) ranks.push_back(std::make_shared<ThreadRanks>(hall, r));
  return ranks;
}

/// With two moments for each parameter.
Task learner() {
  Task task = moons();
  task.groups = {{"*", {"adamw", {}, 0.01}}};
  return task;
}

Task clipped(GradientOperation by) {
  Task task = learner();
  task.before = {std::move(by)};
  return task;
}

Task scaled() {
  Task task = learner();
  task.loss_scaling = LossScaling{};
  return task;
}

spec::Program update_of(const Task& task) { return update_program(task, {2, 12, 2, 6}, DType::f32, 2); }

bool is_cut(const std::string& text) { return elementwise_groups(spec::parse_program(text)).has_value(); }

}  // namespace

TEST_CASE("which_rank_owns_what_changes_no_bit_of_a_run", "[ranks]") {
  const Dataset rows = points();
  int compared = 0;
  for (const Task& task : {learner(), clipped({"clip_by_norm", {{"max_norm", 0.5}}}), clipped(clip_by_percentile(50, 3)), scaled()}) {
    for (const std::int64_t grain : {2, 4}) {
      Trainer alone(task, rows, in_leaves(grain));
      const Trained once = run(alone);
      REQUIRE(once.losses.size() == 4);
      on_ranks(task, rows, in_leaves(grain), threads(grain == 2 ? 5 : 2), [&](Trainer& trainer) {
        const Trained found = run(trainer);
        CHECK(found.losses == once.losses);
        const bool same = found.state == once.state;
        CHECK(same);
        compared += same ? 1 : 0;
      });
    }
  }
  CHECK(compared == 8);
}

TEST_CASE("whether_an_update_is_cut_follows_from_its_equations", "[ranks]") {
  const auto groups = elementwise_groups(update_of(learner()));
  REQUIRE(groups.has_value());
  // A weight or bias with its gradients and two moments each, whatever optimizer that is.
  CHECK(groups->size() == learner().optimization().entries().size());
  for (const Slices::Group& group : *groups) CHECK(group.tensors.size() == 4);
  CHECK_FALSE(elementwise_groups(update_of(clipped({"clip_by_norm", {{"max_norm", 0.5}}}))).has_value());
  CHECK_FALSE(elementwise_groups(update_of(scaled())).has_value());

  const std::string head = "input g : f32[3, 4]\nparameter w : f32[3, 4]\nparameter s : f32[]\n";
  CHECK(is_cut(head + "d = sub(w, g)\ne = mul(d, s)\nt = mul(s, s)\noutput t\nupdate w := e\nupdate s := t\n"));
  CHECK_FALSE(is_cut(head + "d = sub(w, g)\noutput d\nupdate w := d\n"));                                         // an output that is whole
  CHECK_FALSE(is_cut(head + "d = sum(g) {axes = [1], keepdims = true}\ne = sub(w, d)\noutput s\nupdate w := e\n"));  // a sum over an axis
  CHECK_FALSE(is_cut(head + "d = flip(g) {axes = [0]}\ne = sub(w, d)\noutput s\nupdate w := e\n"));                // another place
  CHECK_FALSE(is_cut(head + "d = triu(g)\ne = sub(w, d)\noutput s\nupdate w := e\n"));                              // of its place
  CHECK_FALSE(is_cut(head + "w[i, j] = w[i, j] - g[i, j]\noutput s\n"));                                           // no call
  CHECK_FALSE(is_cut(head + "parameter r : f32[4]\nd = mul(g, r)\noutput s\nupdate w := d\n"));                    // a row for all rows
}

TEST_CASE("slices_have_every_element_once", "[ranks]") {
  const std::vector<Slices::Group> groups{{7, {"a", "b"}}, {1, {"c"}}, {20, {"d"}}};
  for (int owners = 1; owners <= 40; ++owners) {
    const Slices slices(groups, owners);
    std::int64_t least = 28, most = 0;
    for (int o = 0; o < owners; ++o) {
      std::int64_t own = 0;
      for (const char* name : {"a", "c", "d"}) own += slices.part(name, o)->count();
      least = std::min(least, own);
      most = std::max(most, own);
      CHECK(slices.part("b", o) == slices.part("a", o));
    }
    CHECK(most - least <= 1);
    for (const auto& [name, elements] : {std::pair("a", 7), std::pair("c", 1), std::pair("d", 20)}) {
      std::int64_t next = 0;
      for (int o = 0; o < owners; ++o) {
        const Slice part = *slices.part(name, o);
        if (part.count() == 0) continue;
        CHECK(part.first == next);
        next = part.end;
      }
      CHECK(next == elements);
    }
    CHECK_FALSE(slices.part("none", 0).has_value());
  }
}

TEST_CASE("a_rank_with_another_state_is_named", "[ranks]") {
  for (const int wrong : {1, 2}) {
    const auto hall = std::make_shared<Hall>(3);
    std::vector<std::shared_ptr<Ranks>> ranks;
    for (int r = 0; r < 3; ++r) ranks.push_back(r == wrong ? std::make_shared<Forgetful>(hall, r, 4) : std::make_shared<ThreadRanks>(hall, r));
    on_ranks(learner(), points(), in_leaves(2), ranks, [&](Trainer& trainer) {
      trainer.run([](const StepRecord&) {});
      std::string said;
      try {
        (void)trainer.settled_state();
      } catch (const NotRepeated& error) {
        said = error.what();
      }
      CHECK(said.starts_with("rank " + std::to_string(wrong) + " has another state than rank 0, "));
    });
  }
}

TEST_CASE("a_leaf_that_does_not_complete_on_any_rank_ends_the_step_on_all", "[ranks][guard]") {
  Dataset rows{2, 0, std::vector<float>(24, 1.0F), {}, std::vector<float>(12, -1.0F)};
  rows.inputs[9] = rows.inputs[8] = 3e38F;
  Task task = moons();
  task.loss = [](const Traced& answers, const Traced& targets) {
    return ops::mse(named("seen", answers * answers * 1e30), targets);
  };
  TrainerOptions options{1, 1, 12, false};
  options.grain = 2;
  options.guard.values = {"seen"};
  for (const int count : {2, 4}) {
    on_ranks(task, rows, options, threads(count), [&](Trainer& trainer) {
      for (const char* name : {"w1", "w2", "w3"}) {
        HostTensor same = trainer.state().value(name);
        for (float& x : same.view<float>()) x = 0.0625F;
        trainer.state().replace(name, same);
      }
      const Named before = trainer.state().download();
      CHECK_THROWS_WITH(trainer.run([](const StepRecord&) {}), "training: step 0 did not complete: leaf 2: `seen` is inf at [0, 0]");
      CHECK(trainer.settled_state() == before);
    });
  }
}

TEST_CASE("ranks_agree_before_they_train", "[ranks]") {
  const auto said = [](const std::vector<std::string>& declared) {
    const auto ranks = threads(static_cast<int>(declared.size()));
    std::vector<std::string> lines(declared.size());
    std::vector<std::thread> all;
    for (std::size_t r = 0; r < declared.size(); ++r) {
      all.emplace_back([&, r] {
        Meeting meeting(ranks[r]);
        try {
          if (declared[r].empty()) (void)meeting.fail("no data");
          else meeting.agree(declared[r]);
        } catch (const SpecViolation& error) {
          lines[r] = error.what();
        } catch (const SaidByRankZero&) {
          lines[r] = "silent";
        }
      });
    }
    for (std::thread& one : all) one.join();
    return lines;
  };
  using Lines = std::vector<std::string>;
  CHECK(said({R"({"a": 1})", R"({"a": 1})", R"({"a": 1})"}) == Lines{"", "", ""});
  CHECK(said({R"({"a": 1})", R"({"a": 1})", R"({"a": 2})"}) == Lines{"rank 2: a is 2, expected 1 as of rank 0", "silent", "silent"});
  CHECK(said({R"({"a": {"b": [1, 2]}})", R"({"a": {"b": [1, 3]}})"}) == Lines{"rank 1: a/b/1 is 3, expected 2 as of rank 0", "silent"});
  CHECK(said({R"({"a": 1})", R"({})"}) == Lines{"rank 1: a is missing, expected 1 as of rank 0", "silent"});
  CHECK(said({R"({"a": 1})", "", R"({"a": 2})"}) == Lines{"rank 1: no data", "", "silent"});
}
