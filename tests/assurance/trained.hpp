/// \file
/// Small trainers, shadows around them, and flips of bits for tests.
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "spec/contract/contract.hpp"
#include "tools/assurance/step_judge.hpp"
#include "training/data/dataset.hpp"
#include "training/shadow/replica.hpp"
#include "training/shadow/shadow.hpp"
#include "training/tasks/tasks.hpp"
#include "training/trainer.hpp"

namespace etalon::training {

inline Dataset points() {
  const Dataset data = half_moons(22, 0.1, 3);
  Dataset rows{2, 0, data.inputs};
  for (const std::int64_t label : data.labels) rows.numbers.push_back(label == 0 ? 1.0F : -1.0F);
  return rows;
}

/// 44 rows in batches of 4: 11 steps an epoch.
inline Trainer moons_trainer(std::int64_t epochs, std::int64_t grain = 0) {
  TrainerOptions options{5, epochs, 4, true, 1};
  options.grain = grain;
  return Trainer(moons(), points(), options);
}

inline Dataset some_digits(std::size_t count) {
  const Dataset all = read_digits(ETALON_SOURCE_DIR "/training/data/digits.csv.gz");
  std::vector<std::int64_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return select_rows(all, rows);
}

inline StepJudgeMaker cpu_judges() { return assurance::step_judges(spec::contract_named("cpu")); }

/// A bit of an element of a tensor of floats.
struct Flip {
  std::string tensor;
  std::size_t element = 0;
  unsigned bit = 0;
};

inline Flip drawn_flip(const Named& state, std::mt19937& random, unsigned first_bit, unsigned last_bit) {
  std::vector<std::pair<std::string, std::size_t>> all;
  for (const auto& [name, value] : state) {
    if (value.dtype != DType::f32) continue;
    for (std::size_t i = 0; i < value.view<float>().size(); ++i) all.emplace_back(name, i);
  }
  const auto& [name, element] = all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
  return {name, element, std::uniform_int_distribution<unsigned>(first_bit, last_bit)(random)};
}

inline Named flipped(Named state, const Flip& flip) {
  state.at(flip.tensor).view<std::byte>()[4 * flip.element + flip.bit / 8] ^= static_cast<std::byte>(1U << flip.bit % 8);
  return state;
}

inline void flip_in(State state, const Flip& flip) { state.upload(flipped(state.download(), flip), Upload::strict, Part::all); }

}  // namespace etalon::training
