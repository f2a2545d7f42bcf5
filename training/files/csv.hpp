/// \file
/// Records of separated values as in RFC 4180, one after the other. It knows no column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::training {

/// Lines end in LF or CR LF; blank ones, and the mark that a file of UTF-8 may begin with, are read over. A field in quotes
/// may hold separators, line ends and quotes, each written twice; blanks around one without quotes are no part of it.
class CsvReader {
 public:
  /// \param text outlives the reader
  /// \param where the file's name in messages
  CsvReader(std::string_view text, char separator, std::string where);

  /// The next record. \returns whether there is one
  /// \throws IoError `WHERE:LINE: …` for a quote that does not end, or is followed by more than a separator
  [[nodiscard]] bool next(std::vector<std::string>& fields);
  /// `WHERE:LINE`, the line on which the record began that was read last.
  [[nodiscard]] std::string place() const;

 private:
  [[nodiscard]] std::string quoted();
  [[nodiscard]] std::string plain();
  [[nodiscard]] bool takes_line_end();

  std::string_view rest_;
  char separator_;
  std::string where_;
  std::size_t begun_ = 0;  ///< the line of the record
  std::size_t line_ = 1;   ///< of what is read next
};

}  // namespace etalon::training
