#include "compiled/ir/line_reader.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "compiled/ir/language.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::compiled::loops {

using spec::NodeForm;
using spec::NodeId;
using spec::TokenForm;
namespace lexer = spec::lexer;

namespace {

/// How messages of the notation's parser begin.
constexpr std::string_view parser_name = "loops";

bool is_mark(char c) { return std::string_view(".~'#@").find(c) != std::string_view::npos; }

/// What an error of ours says of an expression, without who says it.
std::string rule_of(const InternalError& error) {
  const std::string_view what = error.what();
  return std::string(what.substr(what.find(": ") + 2));
}

/// The constant with another number.
Expr with(const spec::Number& number, Kind kind) {
  if (number.is_binary) return spec::binary64(number.binary);
  return kind == Kind::integer ? spec::integer(number.mantissa) : spec::decimal(number);
}

}  // namespace

SpelledLine::SpelledLine(std::string_view line) : text(line) {
  for (std::size_t i = 0; i < text.size();) {
    if (lexer::is_digit(text[i])) {
      i = lexer::number_end(text, i);
    } else if (!lexer::is_letter(text[i])) {
      const bool before_constant = text[i] == '~' && i + 1 < text.size() && (lexer::is_digit(text[i + 1]) || lexer::is_letter(text[i + 1]));
      if (before_constant) text[i] = ' ';
      ++i;
    } else {
      for (; i < text.size() && (lexer::is_letter(text[i]) || lexer::is_digit(text[i]) || is_mark(text[i])); ++i) {
        if (is_mark(text[i])) text[i] = '_';
      }
    }
  }
  tree.name = parser_name;
  tree.text = text;
}

LineReader::LineReader(const TextLine& line, const KnownNames& known) : SpelledLine(line.text), ExpressionParser(tree), line_(line), known_(known) { check(); }

bool LineReader::accept(std::string_view word) {
  if (!is(word)) return false;
  advance();
  check();
  return true;
}

void LineReader::expect(std::string_view words) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (!accept(word)) fail(fmt::format("'{}'", word));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
}

void LineReader::end() {
  if (!at_end()) fail("the end of the line");
}

std::int64_t LineReader::integer(std::int64_t least, std::int64_t most) {
  std::int64_t found = 0;
  if (token_.form != TokenForm::number || !lexer::integer_of(token_.text, found) || found < least || found > most) {
    fail(fmt::format("an integer from {} to {}", least, most));
  }
  advance();
  check();
  return found;
}

double LineReader::number() {
  double found = 0;
  const char* end = token_.text.data() + token_.text.size();
  if (token_.form != TokenForm::number || std::from_chars(token_.text.data(), end, found).ec != std::errc()) fail("a number");
  advance();
  check();
  return found;
}

std::string LineReader::name(std::string_view what) {
  if (token_.form != TokenForm::name) fail(what);
  std::string found(word_at_hand());
  advance();
  check();
  return found;
}

Binder LineReader::binder() {
  const auto found = token_.form == TokenForm::name ? numbered(word_at_hand(), '\'') : std::nullopt;
  if (!found) fail("the name of a loop and its number, as in k'12");
  Binder binder{found->second, 0, std::string(found->first)};
  (void)name("a loop");
  expect("<");
  binder.extent = integer(0, largest_extent);
  return binder;
}

Register LineReader::target() {
  Register found = 0;
  const std::string_view word = word_at_hand();
  const auto read = std::from_chars(word.data() + 1, word.data() + word.size(), found);
  if (token_.form != TokenForm::name || !word.starts_with('r') || read.ec != std::errc() || read.ptr != word.data() + word.size()) fail("a register, as in r12");
  (void)name("a register");
  return found;
}

TensorId LineReader::tensor() {
  const auto found = token_.form == TokenForm::name ? known_.tensor(word_at_hand()) : std::nullopt;
  if (!found) fail("a tensor", token_.form == TokenForm::name ? known_.suggestion(word_at_hand()) : "");
  (void)name("a tensor");
  return *found;
}

Expr LineReader::value() {
  const NodeId n = expression();
  check();
  return meaning(n);
}

Expr LineReader::value(Kind kind, std::string_view what) {
  const NodeId n = expression();
  check();
  Expr found = meaning(n);
  if (found.kind() != kind) refuse(n, std::string(what));
  return found;
}

std::string LineReader::rest() const {
  const std::size_t begin = token_.begin + token_.text.size();
  return std::string(line_.text.substr(std::min(begin + 1, line_.text.size())));
}

Expr LineReader::read() {
  const NodeId n = primary();
  check();
  if (tree[n].form != NodeForm::read) refuse(n, "an element of a tensor");
  return element(n);
}

void LineReader::fail(std::string_view expected, const std::string& hint) const {
  const std::string found = at_end() ? "the end of the line" : "'" + as_quoted(word_at_hand()) + "'";
  line_.refuse(fmt::format("expected {}, found {}{}", expected, found, hint), token_.begin + 1);
}

void LineReader::check() const {
  if (tree.ok()) return;
  line_.refuse(std::string(tree.diagnosis.rule().substr(parser_name.size() + 2)), tree.diagnosis.column);
}

void LineReader::refuse(NodeId n, const std::string& expected) const {
  line_.refuse(fmt::format("expected {}, found '{}'", expected, as_quoted(spelled(n))), column(n));
}

Expr LineReader::meaning(NodeId n) const {
  switch (tree[n].form) {
    case NodeForm::number: return number(n);
    case NodeForm::truth: return spec::boolean(spelled(n) == "true");
    case NodeForm::name: return name(n);
    case NodeForm::read: return element(n);
    case NodeForm::apply:
    case NodeForm::select: return application(n);
    default: refuse(n, "an expression without reductions");
  }
}

Expr LineReader::number(NodeId n) const {
  if (follows(n, '~')) return binary(n);
  const std::string_view digits = spelled(n);
  std::int64_t whole = 0;
  return lexer::integer_of(digits, whole) ? spec::integer(whole) : spec::decimal(spec::decimal_number(digits));
}

Expr LineReader::binary(NodeId n) const {
  const std::string_view word = spelled(n);
  if (word == "inf") return spec::binary64(std::numeric_limits<double>::infinity());
  if (word == "nan") return spec::binary64(std::numeric_limits<double>::quiet_NaN());
  const char* end = word.data() + word.size();
  if (word.starts_with("nan'")) {
    std::uint64_t bits = 0;
    const auto read = std::from_chars(word.data() + 4, end, bits, 16);
    if (read.ec == std::errc() && read.ptr == end) return spec::binary64(std::bit_cast<double>(bits));
  }
  double value = 0;
  const auto read = std::from_chars(word.data(), end, value);
  if (tree[n].form != NodeForm::number || read.ec != std::errc() || read.ptr != end) refuse(n, "a binary64");
  return spec::binary64(value);
}

Expr LineReader::name(NodeId n) const {
  if (follows(n, '~')) return binary(n);
  const std::string_view word = spelled(n);
  if (const auto known = known_.variable(word)) return *known;
  if (word == info(Primitive::pi).name) return spec::apply(Primitive::pi, {});
  const std::string brackets = known_.tensor(word) ? "; a tensor is read with brackets" : known_.suggestion(word);
  line_.refuse(fmt::format("expected a loop or a register that is known here, found '{}'{}", as_quoted(word), brackets), column(n));
}

/// Whether it is a constant directly behind a minus, which then is its own.
bool LineReader::is_behind_minus(NodeId n) const {
  const bool binary = follows(n, '~');
  if (tree[n].form != NodeForm::number && (tree[n].form != NodeForm::name || !binary)) return false;
  const std::size_t begin = tree[n].text.begin - std::size_t{binary ? 1U : 0U};
  return begin > 0 && line_.text[begin - 1] == '-';
}

Expr LineReader::application(NodeId n) const {
  std::vector<Expr> args;
  for (NodeId c = tree[n].first; c >= 0; c = tree[c].next) args.push_back(meaning(c));
  const auto primitive = static_cast<Primitive>(tree[n].op);
  try {
    if (tree[n].form == NodeForm::select) return spec::select(args.at(0), args.at(1), args.at(2));
    if (primitive == Primitive::neg && is_behind_minus(tree[n].first)) {
      const auto negative = spec::negated(args[0]->number);
      if (negative) return with(*negative, args[0].kind());
    }
    return spec::apply(primitive, std::move(args));
  } catch (const InternalError& error) {
    line_.refuse(fmt::format("{}; found '{}'", rule_of(error), as_quoted(spelled(n))), column(n));
  }
}

Expr LineReader::element(NodeId n) const {
  if (follows(n, '~')) refuse(n, "a binary64");
  const auto tensor = known_.tensor(spelled(n));
  if (!tensor) line_.refuse(fmt::format("expected a tensor, found '{}'{}", as_quoted(spelled(n)), known_.suggestion(spelled(n))), column(n));
  std::vector<Expr> indices;
  for (NodeId c = tree[n].first; c >= 0; c = tree[c].next) indices.push_back(meaning(c));
  try {
    return known_.read(*tensor, std::move(indices));
  } catch (const InternalError& error) {
    line_.refuse(fmt::format("{}; found {} indices", rule_of(error), tree.children(n)), column(n));
  }
}

}  // namespace etalon::compiled::loops
