/// \file
/// How processes that train one run begin and end: whether all of them would train the same one, and one line for all where not.
/// It computes no step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "training/ranks/ranks.hpp"

namespace etalon::training {

/// Rank 0 says what is wrong; this process ends without a word.
class SaidByRankZero : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Meeting {
 public:
  explicit Meeting(std::shared_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}

  [[nodiscard]] const std::shared_ptr<Ranks>& ranks() const { return ranks_; }
  [[nodiscard]] bool is_first() const { return ranks_->rank() == 0; }

  /// \param make called on rank 0 \returns its text, on every rank \throws what `make` does, on rank 0; on the others SaidByRankZero
  [[nodiscard]] std::string text_of_first(const std::function<std::string()>& make);
  /// \param declaration of the run as this process would train it, a JSON object
  /// \throws SpecViolation on rank 0: the first rank that fails, with its words, or whose declaration is another, with the field; on the
  /// others SaidByRankZero then
  void agree(const std::string& declaration);
  /// This process cannot take part, or not any more: before they agreed, each rank has to say so; afterwards rank 0 has, while it
  /// computes no step. \returns whether the others know it from this
  bool fail(const std::string& why);
  /// Of rank 0, after the last step: the others have nothing more to do.
  void end();
  /// Whether all know that nothing more comes of this.
  [[nodiscard]] bool has_ended() const { return stage_ == Stage::ended; }

 private:
  [[nodiscard]] std::string first_trouble(const std::string& kind, const std::string& text);

  std::shared_ptr<Ranks> ranks_;
  enum class Stage : std::uint8_t { open, agreed, ended } stage_ = Stage::open;
};

}  // namespace etalon::training
