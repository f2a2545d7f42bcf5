/// \file
/// One line of the text of kernels as words, numbers and expressions. Expressions are those of the notation and are parsed by its
/// parser (spec/notation); names are looked up in what is known. It knows no line's meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiled/ir/known_names.hpp"
#include "compiled/ir/text_lines.hpp"
#include "spec/notation/expression_parser.hpp"

namespace etalon::compiled::loops {

/// The largest extent, and number of bytes, that a text may state: sums of several fit 64 bits.
inline constexpr std::int64_t largest_extent = std::int64_t{1} << 48;

/// The line with the names of systems as the notation spells names, each byte in its place. Names of systems may have dots, tildes,
/// apostrophes, hashes and at signs behind their first letter, and a binary64 has a tilde before it.
struct SpelledLine {
  explicit SpelledLine(std::string_view line);
  SpelledLine(const SpelledLine&) = delete;
  SpelledLine& operator=(const SpelledLine&) = delete;
  std::string text;
  spec::Definition tree;
};

/// Token by token. Whatever is not as expected is refused: ``expected WHAT, found 'WORD'``.
class LineReader : private SpelledLine, private spec::notation::ExpressionParser {
 public:
  LineReader(const TextLine& line, const KnownNames& known);

  [[nodiscard]] bool at_end() const { return token_.form == spec::TokenForm::end; }
  [[nodiscard]] bool is(std::string_view word) const { return token_.form != spec::TokenForm::end && word_at_hand() == word; }
  /// Whether the word after the one at hand is this one.
  [[nodiscard]] bool is_next(std::string_view word) const { return after().is(word); }
  /// Whether a name follows the one at hand.
  [[nodiscard]] bool is_before_name() const { return after().form == spec::TokenForm::name; }
  bool accept(std::string_view word);
  /// \param words separated by single blanks
  void expect(std::string_view words);
  void end();

  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most);
  [[nodiscard]] double number();
  [[nodiscard]] std::string name(std::string_view what);
  /// ``k'12 < 64``
  [[nodiscard]] Binder binder();
  /// `r12`
  [[nodiscard]] Register target();
  [[nodiscard]] TensorId tensor();
  [[nodiscard]] Expr value();
  /// \param what it is, for messages
  [[nodiscard]] Expr value(Kind kind, std::string_view what);
  [[nodiscard]] Expr condition() { return value(Kind::boolean, "a condition"); }
  /// What stands behind the word at hand and a blank, as it is.
  [[nodiscard]] std::string rest() const;
  /// An element of a tensor.
  [[nodiscard]] Expr read();

  [[noreturn]] void fail(std::string_view expected, const std::string& hint = {}) const;

 private:
  [[nodiscard]] std::string_view word_at_hand() const { return line_.text.substr(token_.begin, token_.text.size()); }
  [[nodiscard]] spec::Token after() const { return spec::lexer::next(text, token_.begin + token_.text.size()); }
  /// The column of a node, and its text as it stands in the line.
  [[nodiscard]] std::size_t column(spec::NodeId n) const { return tree[n].text.begin + std::size_t{1}; }
  [[nodiscard]] std::string_view spelled(spec::NodeId n) const { return line_.text.substr(tree[n].text.begin, tree[n].text.length); }
  [[nodiscard]] bool follows(spec::NodeId n, char c) const { return tree[n].text.begin > 0 && line_.text[tree[n].text.begin - std::size_t{1}] == c; }
  void check() const;
  [[noreturn]] void refuse(spec::NodeId n, const std::string& expected) const;

  [[nodiscard]] Expr meaning(spec::NodeId n) const;
  [[nodiscard]] Expr number(spec::NodeId n) const;
  [[nodiscard]] Expr binary(spec::NodeId n) const;
  [[nodiscard]] Expr name(spec::NodeId n) const;
  [[nodiscard]] bool is_behind_minus(spec::NodeId n) const;
  [[nodiscard]] Expr application(spec::NodeId n) const;
  [[nodiscard]] Expr element(spec::NodeId n) const;

  const TextLine& line_;
  const KnownNames& known_;
};

}  // namespace etalon::compiled::loops
