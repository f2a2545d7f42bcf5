/// \file
/// The journal of a run: one line per interval, with the digests of the state after it and of its losses. It knows no
/// tensor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/run/storage.hpp"
#include "training/shadow/results.hpp"

namespace etalon::training {

class StrictJson;

/// What an interval came to. Digests are SHA-256 in 64 hexadecimal digits.
struct JournalLine {
  std::int64_t interval = 0;  ///< from 1
  std::int64_t step = 0;      ///< how many steps are done after it
  std::string state;          ///< of the state's file
  std::string losses;         ///< of the interval's losses, as doubles, the lowest byte first
  std::string validation = {};  ///< likewise of all validation losses up to it; empty where nothing is validated
  ShadowResults shadow = {};  ///< of checks while it was computed; it differs where faults came and went

  [[nodiscard]] friend bool operator==(const JournalLine&, const JournalLine&) = default;
};

/// Whether two computations of an interval came to the same bits, whatever checks met on the way.
[[nodiscard]] bool same_bits(const JournalLine& a, const JournalLine& b);
/// One line of JSON, without its end.
[[nodiscard]] std::string to_text(const JournalLine& line);
/// \throws IoError `WHERE: what is wrong`
[[nodiscard]] JournalLine journal_line_of(std::string_view text, const std::string& where);
/// The same of a line within a document.
[[nodiscard]] JournalLine journal_line_of(const StrictJson& line);
/// The digest of losses that stands in a line.
[[nodiscard]] std::string digest_of_losses(std::span<const double> losses);

/// The lines in their file. A line that was not written yet is written with the next.
class Journal {
 public:
  /// Reads what is there. A last line that was cut short is as good as none, and goes with the next line that is
  /// written. \throws IoError: there is no such file, or a line that is not the next interval's
  Journal(Storage& storage, std::filesystem::path path);

  /// In the order of the intervals, from the first; those that are not written yet, too.
  [[nodiscard]] const std::vector<JournalLine>& lines() const { return lines_; }
  /// The line of that interval, if there is one.
  [[nodiscard]] const JournalLine* find(std::int64_t interval) const;
  /// Those that may not be in the file yet.
  [[nodiscard]] std::vector<JournalLine> pending() const {
    return {lines_.begin() + static_cast<std::ptrdiff_t>(written_), lines_.end()};
  }
  /// The next line, not written yet. \throws InternalError for another interval than the next
  void add(const JournalLine& line);
  /// Writes what is pending, for sure. \throws IoError; then it is pending still
  void write();

 private:
  Storage* storage_;
  std::filesystem::path path_;
  std::vector<JournalLine> lines_;
  std::size_t written_ = 0;  ///< lines
  bool whole_ = true;        ///< the file is these lines and nothing more, as far as is known
};

}  // namespace etalon::training
