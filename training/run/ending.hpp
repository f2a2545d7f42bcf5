/// \file
/// How the training of a run in a folder ended.
#pragma once

#include <cstdint>
#include <string>

namespace etalon::training {

struct Ending {
  enum class Status : std::uint8_t {
    finished,
    stopped,       ///< it was asked to; a checkpoint was saved
    not_repeated,  ///< an interval came to other digests than before: this machine, or the one before, does not compute
                   ///< what it should
    not_saved,     ///< three checkpoints in a row could not be saved, or the last one
    followed       ///< another process keeps the run, and tells how it ended
  };
  Status status = Status::finished;
  std::string why{};       ///< one line, unless finished
  std::int64_t saved = 0;  ///< the step that training would go on from
  std::int64_t compared = 0;  ///< the last interval that was computed here and is what the journal had of it
};

}  // namespace etalon::training
