/// \file
/// A tile of a contraction by tensor cores: how a block's warps share it, and a piece of it as instructions on fragments, in CUDA C++. Which
/// thread holds what is as PTX documents it for mma.sync; sums are in registers as TileSteps has them, some rows by some columns a thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiled/emit/text/scalars.hpp"
#include "compiled/emit/text/text.hpp"
#include "compiled/ir/fragment_adder.hpp"
#include "compiled/ir/schedule.hpp"

namespace etalon::cuda {

class FragmentSteps {
 public:
  /// \param schedule with an instruction on fragments, and a tile that a block shares
  /// \param thread which of the block a thread is
  FragmentSteps(compiled::source::Scalars& scalars, compiled::source::Text& text, const compiled::Schedule& schedule, std::string thread);

  /// The type of a factor's numbers in shared memory, which has `steps` of each row, or column, and some room behind them.
  [[nodiscard]] std::string_view number_type() const;
  [[nodiscard]] std::int64_t row_numbers() const;
  /// A number as shared memory has it. \param held the type that it had in memory, where it was read from there
  [[nodiscard]] std::string narrowed(const std::string& number, DType from) const;

  /// Declares which rows and columns of the tile are a thread's. \returns nothing; `row` and `column` speak of them
  void begin();
  /// The thread's n-th row of the tile, or column.
  [[nodiscard]] std::string row(const std::string& n) const;
  [[nodiscard]] std::string column(const std::string& n) const;

  /// Adds the products of all steps of a piece.
  /// \param left and \param right the factors in shared memory
  void multiply(const std::string& left, const std::string& right, const std::string& sums);

 private:
  void load(const std::string& name, const std::string& from, const std::string& first, std::int64_t fragments, std::int64_t fragment_rows, std::int64_t registers,
            const std::string& step);
  [[nodiscard]] std::int64_t packed() const;

  compiled::source::Scalars& scalars_;
  compiled::source::Text& text_;
  const compiled::Schedule& s_;
  const compiled::FragmentAdder& adder_;
  std::string thread_;
  std::string lane_;
  std::string warp_row_;
  std::string warp_column_;
};

/// Bytes of shared memory of the numbers of so many rows and columns of a tile.
[[nodiscard]] std::int64_t fragment_bytes(const compiled::Schedule& schedule, std::int64_t rows_and_columns);

/// The definitions of the instructions that a text calls, in inline PTX; a host that emulates threads has them already.
[[nodiscard]] std::string fragment_definitions(std::string_view text);

}  // namespace etalon::cuda
