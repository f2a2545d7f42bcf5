/// \file
/// The parser of specifications of `einsum`, in both forms. Total: what is wrong is a value. It knows no definitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/einsum/spec.hpp"
#include "spec/notation/lexer.hpp"

namespace etalon::spec::einsum_notation {

class Parser {
  constexpr bool ok() const { return out_.diagnosis.ok(); }
  template <class... Parts>
  constexpr void fail(std::size_t where, const Parts&... parts) {
    if (ok()) out_.diagnosis = diagnose("einsum: ", parts...).at(text_, where);
    at_ = text_.size();
  }

 public:
  constexpr explicit Parser(std::string_view text) : text_(text) { out_.text = text; }

  constexpr Specification run() {
    if (text_.size() > max_length) fail(max_length, "the specification is longer than 400 characters");
    choose_form();
    skip();
    if (numpy_) numpy();
    else general();
    if (ok() && at_ < text_.size()) expected("the end of the specification");
    return out_;
  }

 private:
  static constexpr std::size_t max_length = 400;
  static constexpr std::size_t max_name = 32;

  /// The axes of one kind.
  struct Row {
    Axis axes[Shape::max_axes] = {};
    std::size_t count = 0;
  };

  constexpr void expected(std::string_view what) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) ++end;
    if (at_ >= text_.size()) return fail(text_.size(), "expected ", what, ", found the end");
    fail(at_, "expected ", what, ", found '", text_.substr(at_, end - at_), "'");
  }

  // --- characters ---

  constexpr void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  constexpr bool is(std::string_view mark) const { return ok() && text_.substr(at_, mark.size()) == mark; }
  constexpr bool accept(std::string_view mark) {
    if (!is(mark)) return false;
    at_ += mark.size();
    skip();
    return true;
  }
  constexpr bool at_letter() const { return at_ < text_.size() && lexer::is_letter(text_[at_]); }
  constexpr bool at_digit() const { return at_ < text_.size() && lexer::is_digit(text_[at_]); }

  /// A form with `=>` is the general one. A name is one letter there unless some mark needs more.
  constexpr void choose_form() {
    numpy_ = text_.find("=>") == std::string_view::npos;
    if (numpy_) return;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      const bool mark = c == ',' || c == '*' || c == '+' || c == '^' || c == '&' || c == '<';
      long_names_ = long_names_ || mark || (c == '=' && text_.substr(i, 2) != "=>");
    }
  }

  constexpr std::string_view name() {
    const std::size_t begin = at_;
    if (!at_letter()) return expected("a name"), std::string_view();
    ++at_;
    while (long_names_ && (at_letter() || at_digit())) ++at_;
    const std::string_view found = text_.substr(begin, at_ - begin);
    if (found.size() > max_name) fail(begin, "a name has at most 32 characters");
    skip();
    return found;
  }
  constexpr std::int64_t number() {
    const std::size_t begin = at_;
    std::int64_t value = 0;
    if (!at_digit()) return expected("a number"), 0;
    do value = value * 10 + (text_[at_++] - '0');
    while (at_digit() && long_names_ && value < 1000000);
    if (at_digit() && long_names_) fail(begin, "a number has at most 7 digits");
    skip();
    return value;
  }

  // --- tensors ---

  constexpr void numpy() {
    do {
      if (!ok()) return;
      if (out_.operand_count == Specification::max_operands) return fail(at_, "more than 8 operands");
      shape(out_.operands[out_.operand_count++], true);
    } while (accept(","));
    if (accept("->")) return numpy_result();
    if (ok() && at_ == text_.size()) implied_result();
  }
  constexpr void numpy_result() {
    shape(out_.result, true);
    for (std::size_t k = 0; k < out_.result.count && ok(); ++k) {
      const Axis& axis = out_.result.axes[k];
      for (std::size_t j = 0; j < k; ++j) {
        if (out_.result.axes[j].name == axis.name) fail(axis.begin, "index ", axis.name, " stands twice in the result");
      }
      if (occurrences(axis.name) == 0) fail(axis.begin, "index ", axis.name, " is in no operand");
    }
  }
  constexpr std::size_t occurrences(std::string_view wanted) const {
    std::size_t n = 0;
    for (std::size_t t = 0; t < out_.operand_count; ++t) {
      for (std::size_t k = 0; k < out_.operands[t].count; ++k) n += out_.operands[t].axes[k].name == wanted ? 1U : 0U;
    }
    return n;
  }
  /// Without `->` the result has the row, then the indices that stand once, in the order of their letters.
  constexpr void implied_result() {
    const auto take = [this](std::string_view wanted) {
      for (std::size_t t = 0; t < out_.operand_count; ++t) {
        for (std::size_t k = 0; k < out_.operands[t].count; ++k) {
          const Axis& axis = out_.operands[t].axes[k];
          if (axis.name != wanted || out_.result.count == Shape::max_axes) continue;
          out_.result.axes[out_.result.count++] = axis;
          return;
        }
      }
    };
    take("rest");
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (occurrences(letters.substr(i, 1)) == 1) take(letters.substr(i, 1));
    }
  }

  constexpr void general() {
    do {
      if (!ok()) return;
      if (out_.operand_count == Specification::max_operands) return fail(at_, "more than 8 operands");
      shape(out_.operands[out_.operand_count++], false);
    } while (accept(";"));
    if (!ok()) return;
    if (!accept("=>")) return expected("an axis, ';' or '=>'");
    shape(out_.result, false);
  }

  /// `batch|input->output`; a tensor has the axes in the order batch, output, input.
  constexpr void shape(Shape& into, bool plain) {
    into.begin = at_;
    Row batch, input, output;
    row(output, plain);
    if (!plain && accept("|")) {
      batch = output;
      output = Row();
      row(output, plain);
    }
    if (!plain && accept("->")) {
      input = output;
      output = Row();
      row(output, plain);
    }
    append(into, batch, "batch");
    append(into, output, plain ? "rest" : "output");
    append(into, input, "input");
  }
  constexpr void append(Shape& into, const Row& row, std::string_view kind) {
    for (std::size_t k = 0; k < row.count && ok(); ++k) {
      if (into.count == Shape::max_axes) return fail(into.begin, "a tensor with more than 12 places");
      into.axes[into.count] = row.axes[k];
      if (row.axes[k].joins) into.axes[into.count].name = kind;
      ++into.count;
    }
  }

  /// Axes with at most one `...` or `..name..` among them; commas part long names.
  constexpr void row(Row& into, bool plain) {
    bool has_row = false;
    while (ok() && (at_letter() || at_digit() || is(".."))) {
      if (into.count == Shape::max_axes) return fail(at_, "a tensor with more than 12 places");
      Axis axis;
      axis.begin = at_;
      const bool is_row = is("..");
      if (is_row && has_row) return fail(at_, "two rows among the axes of one kind");
      if (is_row) ellipsis(axis, plain);
      else if (plain) plain_axis(axis);
      else general_axis(axis);
      has_row = has_row || is_row;
      into.axes[into.count++] = axis;
      if (plain || !long_names_ || accept(",") || is_row || is("..")) continue;
      if (at_letter() || at_digit()) return expected("','");
    }
  }
  constexpr void ellipsis(Axis& axis, bool plain) {
    axis.form = Axis::Form::row;
    if (accept("...")) {
      axis.joins = true;
      return;
    }
    if (plain) return expected("'...'");
    accept("..");
    const std::size_t begin = at_;
    while (at_letter() || at_digit()) ++at_;
    axis.name = text_.substr(begin, at_ - begin);
    if (axis.name.size() > max_name) return fail(begin, "a name has at most 32 characters");
    if (axis.name.empty() || lexer::is_digit(axis.name[0])) {
      at_ = begin;
      return expected("the name of a row");
    }
    if (!accept("..")) expected("'..' after the name of a row");
  }
  constexpr void plain_axis(Axis& axis) {
    axis.name = name();
    if (axis.name == "_") fail(axis.begin, "expected a letter, found '_'");
  }

  // --- axes of the general form ---

  constexpr void general_axis(Axis& axis) {
    Factor first;
    if (at_digit()) first.number = number();
    else first.name = name();
    if (!ok()) return;
    if (is("^")) return concat(axis, first);
    if (accept("*")) {
      if (first.name.empty() && first.number == 0) return fail(axis.begin, "a stride is 1 or more");
      axis.stride = first;
      axis.name = name();
      return affine(axis);
    }
    if (first.name.empty()) {
      axis.form = Axis::Form::fixed;
      axis.number = first.number;
      return;
    }
    axis.name = first.name;
    if (is("+") || is("<") || (is("=") && !is("=>"))) return affine(axis);
    if (axis.name == "_") axis.form = Axis::Form::anonymous;
  }

  /// What follows `over`.
  constexpr void affine(Axis& axis) {
    axis.form = Axis::Form::affine;
    bool marked = accept("<");
    if (!marked && !is("=>") && accept("=")) marked = axis.padded = true;
    bool more = accept("+");
    if (more && at_digit()) {
      const std::size_t begin = at_;
      axis.number = number();
      if (accept("*")) {
        axis.dilation.number = axis.number;
        axis.number = 0;
        if (axis.dilation.number == 0) return fail(begin, "a dilation is 1 or more");
        axis.kernel = name();
        return check(axis);
      }
      more = accept("+");
    }
    if (more) kernel(axis);
    if (marked && axis.kernel.empty()) expected("'+' and an index of the kernel");
    check(axis);
  }
  constexpr void kernel(Axis& axis) {
    const std::size_t begin = at_;
    if (at_digit()) axis.dilation.number = number();
    else axis.kernel = name();
    if (accept("*")) {
      if (axis.kernel.empty() && axis.dilation.number == 0) return fail(begin, "a dilation is 1 or more");
      axis.dilation.name = axis.kernel;
      axis.kernel = name();
    } else if (axis.kernel.empty()) {
      expected("'*' and an index of the kernel");
    }
  }
  constexpr void check(const Axis& axis) {
    if (axis.name == "_" || axis.kernel == "_") fail(axis.begin, "`_` stands alone");
    if (axis.name == axis.kernel) fail(axis.begin, "index ", axis.name, " stands twice in one place");
  }

  constexpr void concat(Axis& axis, const Factor& first) {
    axis.form = Axis::Form::concat;
    axis.pieces[axis.piece_count++] = {first.name, first.name.empty() ? first.number : 0};
    while (accept("^")) {
      if (axis.piece_count == Axis::max_pieces) return fail(at_, "a concatenation of more than 6 pieces");
      Piece piece;
      if (at_digit()) piece.number = number();
      else piece.name = name();
      axis.pieces[axis.piece_count++] = piece;
    }
    for (std::size_t p = 0; p < axis.piece_count; ++p) {
      if (axis.pieces[p].name == "_") fail(axis.begin, "`_` is not a piece");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool numpy_ = false;
  bool long_names_ = false;
  Specification out_;
};

/// Reads a specification.
[[nodiscard]] constexpr Specification parse(std::string_view text) { return Parser(text).run(); }

}  // namespace etalon::spec::einsum_notation
