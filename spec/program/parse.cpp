#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/notation/split.hpp"
#include "spec/program/assignment.hpp"
#include "spec/program/einsum_call.hpp"
#include "spec/program/fault.hpp"
#include "spec/program/line_lexer.hpp"
#include "spec/program/number_text.hpp"
#include "spec/program/program.hpp"
#include "spec/program/wishes.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

/// Reads one line into the program.
class LineParser {
 public:
  LineParser(std::string_view line, LineLexer lexer, Program& program) : line_(line), in_(std::move(lexer)), program_(program) {}

  /// What is left of a line is the source of this assignment.
  void finish(Assign assignment) {
    assignment.source = source();
    if (!in_.at_end()) in_.fail("the end of the line");
    program_.steps.emplace_back(std::move(assignment));
  }

  void run() {
    if (in_.at_end()) return;
    const LineToken first = in_.peek();
    const std::string word = in_.take_word("a declaration or a step");
    const bool declares = in_.peek().form == LineToken::Form::word;
    if (declares && word == "input") input(Role::input);
    else if (declares && word == "parameter") input(Role::parameter);
    else if (declares && word == "constant") input(Role::constant);
    else if (declares && word == "index") input(Role::index);
    else if (declares && word == "buffer") buffer();
    else if (declares && word == "output") outputs();
    else if (declares && word == "update") update();
    else if (const auto asked = asked_by(word); declares && asked) wish(*asked);
    else if (declares) {
      const std::vector<std::string> words{"input",  "parameter", "constant", "index",  "buffer",
                                           "output", "update",    "capture",  "stored", "inlined"};
      in_.reject(unknown_name("declaration", word, words), first.column);
    } else {
      step(word);
    }
    if (joins_values(in_.peek())) reject_formula("the end of the line");
    if (!in_.at_end()) in_.fail("the end of the line");
  }

 private:
  [[nodiscard]] std::int64_t integer(std::string_view what) {
    const LineToken token = in_.peek();
    std::int64_t value = 0;
    const char* end = token.text.data() + token.text.size();
    const auto result = std::from_chars(token.text.data(), end, value);
    if (token.form != LineToken::Form::number || result.ec != std::errc{} || result.ptr != end) in_.fail(what);
    (void)in_.take();
    return value;
  }

  /// An element type and extents; `?n` is an open one where `open` takes the names.
  [[nodiscard]] ValueType type(std::vector<std::string>* open) {
    ValueType result;
    const LineToken type = in_.peek();
    const auto dtype = dtype_named(in_.take_word("an element type"));
    if (!dtype) in_.reject(unknown_name("element type", type.text, dtype_names()), type.column);
    result.dtype = *dtype;
    in_.expect("[");
    while (!in_.is("]")) {
      const std::size_t column = in_.peek().column;
      const bool is_open = open != nullptr && in_.accept("?");
      if (open != nullptr) open->push_back(is_open ? in_.take_word("the name of an open extent") : "");
      const std::int64_t extent = is_open ? 0 : integer("an extent");
      if (extent < 0) in_.reject(fmt::format("an extent is not negative, found {}", extent), column);
      if (result.dims.rank == Dims::max_rank) in_.reject("a tensor has at most 8 axes", column);
      result.dims.push_back(extent);
      if (!in_.accept(",")) break;
    }
    in_.expect("]");
    return result;
  }

  void buffer() {
    Buffer buffer;
    buffer.name = in_.take_word("a name");
    in_.expect(":");
    const ValueType read = type(nullptr);
    buffer.dtype = read.dtype;
    buffer.dims = read.dims;
    buffer.source = source();
    program_.buffers.push_back(std::move(buffer));
  }

  void input(Role role) {
    Input input;
    input.role = role;
    input.name = in_.take_word("a name");
    in_.expect(":");
    const ValueType read = type(&input.open);
    input.dtype = read.dtype;
    input.dims = read.dims;
    if (std::all_of(input.open.begin(), input.open.end(), [](const std::string& name) { return name.empty(); })) input.open.clear();
    if (in_.accept_word("in")) {
      const std::int64_t low = integer("the least value of the range");
      in_.expect("..");
      input.range = {low, integer("the greatest value of the range")};
    }
    if (in_.accept("=")) input.value = elements(input.dtype, input.dims);
    input.source = source();
    program_.inputs.push_back(std::move(input));
  }

  [[nodiscard]] static std::vector<std::string> dtype_names() {
    std::vector<std::string> names;
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean})
      names.emplace_back(name_of(dtype));
    return names;
  }

  [[nodiscard]] HostTensor elements(DType dtype, const Dims& dims) {
    const std::size_t column = in_.peek().column;
    const bool list = dims.rank > 0;
    std::vector<LineToken> tokens;
    if (list) in_.expect("[");
    while (!in_.is("]")) {
      if (in_.peek().form != LineToken::Form::word && in_.peek().form != LineToken::Form::number) in_.fail("an element");
      tokens.push_back(in_.take());
      if (!list || !in_.accept(",")) break;
    }
    if (list) in_.expect("]");
    std::int64_t expected = 1;
    for (const std::int64_t extent : dims) {
      if (__builtin_mul_overflow(expected, extent, &expected)) in_.reject("the tensor is too large", column);
    }
    if (static_cast<std::uint64_t>(expected) != tokens.size())
      in_.reject(fmt::format("expected {} elements, found {}", expected, tokens.size()), column);
    HostTensor tensor(dtype, dims);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!read_element(tokens[i].text, tensor, i))
        in_.reject(fmt::format("expected an element of type {}, found '{}'", name_of(dtype), as_quoted(tokens[i].text)), tokens[i].column);
    }
    return tensor;
  }

  void outputs() {
    do program_.outputs.push_back(in_.take_word("a value"));
    while (in_.accept(","));
  }

  void update() {
    Update update;
    update.parameter = in_.take_word("a parameter");
    in_.expect(":=");
    update.value = in_.take_word("a value");
    program_.updates.push_back(std::move(update));
  }

  /// What is asked of several values stands on one line, and has one source.
  void wish(Asked asked) {
    const std::size_t first = program_.wishes.size();
    do program_.wishes.push_back({asked, in_.take_word("a value"), {}});
    while (in_.accept(","));
    const Source where = source();
    for (std::size_t i = first; i < program_.wishes.size(); ++i) program_.wishes[i].source = where;
  }

  void step(const std::string& first_result) {
    std::vector<std::string> results{first_result};
    while (in_.accept(",")) results.push_back(in_.take_word("a result"));
    in_.expect("=");
    const std::size_t column = in_.peek().column;
    if (in_.peek().form == LineToken::Form::number || in_.is("(") || in_.is("-")) reject_formula("an operation", results, column);
    std::string operation = in_.take_word("an operation");
    if (joins_values(in_.peek())) reject_formula("'('", results, column);
    in_.expect("(");
    std::vector<std::optional<std::string>> operands = names();
    if (in_.is(";")) return derivative(operation, operands, std::move(results));
    in_.expect(")");
    Call call{std::move(operation), std::move(operands), {}, {}, std::move(results), {}};
    if (in_.accept_word("packs")) {
      in_.expect("[");
      while (!in_.is("]")) {
        const std::size_t at = in_.peek().column;
        const std::int64_t length = integer("the length of a pack");
        if (length < 0) in_.reject("the length of a pack is not negative", at);
        call.packs.push_back(static_cast<std::size_t>(length));
        if (!in_.accept(",")) break;
      }
      in_.expect("]");
    }
    if (in_.accept("{")) attributes(call.attributes);
    call.source = source();
    try {
      translate_einsum_call(program_, call);
    } catch (const SpecViolation& error) {
      in_.reject(error.what(), column);
    }
    program_.steps.emplace_back(std::move(call));
  }

  /// `+` and its like, which formulas have and calls have not.
  [[nodiscard]] static bool joins_values(const LineToken& token) {
    const bool signed_number = token.form == LineToken::Form::number && (token.text[0] == '+' || token.text[0] == '-');
    return signed_number || (token.form == LineToken::Form::mark && std::string_view("+-*/^").find(token.text) != std::string_view::npos);
  }

  [[nodiscard]] bool is_value(const std::string& name) const {
    const auto is = [&](const auto& one) { return one.name == name; };
    if (std::any_of(program_.inputs.begin(), program_.inputs.end(), is)) return true;
    return std::any_of(program_.steps.begin(), program_.steps.end(), [&](const auto& step) {
      const auto* call = std::get_if<Call>(&step);
      return call != nullptr && std::find(call->results.begin(), call->results.end(), name) != call->results.end();
    });
  }

  /// A formula where a call is expected: shows the assignment that says so.
  [[noreturn]] void reject_formula(std::string_view expected, const std::vector<std::string>& results, std::size_t column) const {
    const std::string_view formula = line_.substr(column - 1, line_.find_first_of("#@", column - 1) - (column - 1));
    const std::string indexed = with_values(formula.substr(0, formula.find_last_not_of(" \t\r") + 1), [this](std::string& name) {
      if (is_value(name)) name += "[...]";
    });
    in_.fail(expected, fmt::format("a formula is an assignment: buffer {}[...] = {}", as_quoted(results.front()), as_quoted(indexed)));
  }

  /// A formula behind a call.
  [[noreturn]] void reject_formula(std::string_view expected) const {
    in_.fail(expected, "a step is one call; name its result and take it in the next");
  }

  [[nodiscard]] std::vector<std::optional<std::string>> names() {
    std::vector<std::optional<std::string>> result;
    while (!in_.is(")") && !in_.is(";")) {
      std::string name = in_.take_word("a value");
      result.push_back(name == "_" ? std::nullopt : std::optional(std::move(name)));
      if (!in_.accept(",")) break;
    }
    return result;
  }

  [[nodiscard]] std::vector<std::string> present(const std::vector<std::optional<std::string>>& names) {
    std::vector<std::string> result;
    for (const auto& name : names) {
      if (!name) in_.fail("a value, not '_',");
      result.push_back(*name);
    }
    return result;
  }

  void derivative(const std::string& mode, const std::vector<std::optional<std::string>>& of, std::vector<std::string> results) {
    if (mode != "vjp" && mode != "jvp") in_.fail("')', since only vjp and jvp take several lists of values,");
    Differentiate step;
    step.mode = mode == "vjp" ? Differentiate::Mode::vjp : Differentiate::Mode::jvp;
    step.of = present(of);
    in_.expect(";");
    step.wrt = present(names());
    if (in_.accept(";")) step.seeds = names();
    in_.expect(")");
    step.results = std::move(results);
    step.source = source();
    program_.steps.emplace_back(std::move(step));
  }

  void attributes(Attributes& into) {
    while (!in_.is("}")) {
      const LineToken name = in_.peek();
      (void)in_.take_word("the name of an attribute");
      in_.expect("=");
      if (!into.emplace(name.text, attribute()).second) in_.reject("attribute " + name.text + " is given twice", name.column);
      if (!in_.accept(",")) break;
    }
    in_.expect("}");
  }

  [[nodiscard]] AttributeValue attribute() {
    if (in_.accept("$")) return ValueName{in_.take_word("a value")};
    if (in_.accept_word("real")) {
      in_.expect("[");
      in_.expect("]");
      return std::vector<double>{};
    }
    if (in_.accept("[")) return list();
    const LineToken token = in_.peek();
    if (token.form == LineToken::Form::string) return in_.take().text;
    if (token.form == LineToken::Form::word && token.text != "nan" && token.text != "inf") {
      (void)in_.take();
      if (token.text == "true" || token.text == "false") return token.text == "true";
      return token.text;
    }
    return number();
  }

  [[nodiscard]] AttributeValue number() {
    const LineToken token = in_.peek();
    const bool whole = token.form == LineToken::Form::number && token.text.find_first_not_of("+-0123456789") == std::string::npos;
    if (whole) return integer("an integer that fits 64 bits");
    HostTensor value(DType::f64, {});
    if (token.text.empty() || !read_element(token.text, value, 0)) in_.fail("the value of an attribute");
    (void)in_.take();
    return value.view<double>()[0];
  }

  [[nodiscard]] AttributeValue list() {
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    while (!in_.is("]")) {
      const AttributeValue item = number();
      if (const auto* whole = std::get_if<std::int64_t>(&item)) integers.push_back(*whole);
      else reals.push_back(std::get<double>(item));
      if (!integers.empty() && !reals.empty()) in_.fail("a list of integers or a list of reals, not both,");
      if (!in_.accept(",")) break;
    }
    in_.expect("]");
    if (!reals.empty()) return reals;
    return integers;
  }

  [[nodiscard]] Source source() {
    Source source;
    if (in_.accept("@")) {
      if (in_.peek().form != LineToken::Form::string) in_.fail("a file name in quotes");
      source.file = in_.take().text;
      in_.expect(":");
      const std::size_t column = in_.peek().column;
      const std::int64_t line = integer("a line number");
      if (line < 0 || line > 0xffffffffLL) in_.reject("a line number is not negative and fits 32 bits", column);
      source.line = static_cast<std::uint32_t>(line);
    }
    if (in_.accept_word("section")) {
      if (in_.peek().form != LineToken::Form::string) in_.fail("a label in quotes");
      source.section = in_.take().text;
    }
    return source;
  }

  std::string_view line_;
  LineLexer in_;
  Program& program_;
};

/// The lines of a text, one after the other.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t number() const { return number_; }  ///< of the line taken last, from 1
  [[nodiscard]] std::string_view rest() const { return rest_; }
  std::string_view take() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return line;
  }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

/// Whether these words, and nothing else, stand on the line.
[[nodiscard]] bool holds_only(std::string_view line, std::span<const std::string_view> words) {
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) ++at;
  };
  for (const std::string_view word : words) {
    skip();
    if (line.substr(at, word.size()) != word) return false;
    at += word.size();
  }
  skip();
  return at == line.size();
}

constexpr std::array<std::string_view, 1> opening{"definitions"};
constexpr std::array<std::string_view, 2> closing{"end ", "definitions"};

/// The lines up to `end definitions`, as definitions of the program's own.
void definitions(Lines& lines, Program& program, PartLines& where) {
  const std::size_t first = lines.number();
  const std::string_view block = lines.rest();
  std::size_t size = 0;
  for (bool closed = false; !closed;) {
    if (lines.at_end()) throw TextViolation({first, 0}, "the definitions do not end; expected a line `end definitions`");
    size = block.size() - lines.rest().size();
    closed = holds_only(lines.take(), closing);
    if (!closed) where.definitions.push_back(lines.number());
  }
  for (const auto& one : split_definitions(block.substr(0, size))) {
    const Diagnosis& wrong = one->definition.diagnosis;
    if (!wrong.ok())
      throw TextViolation({first + one->line + std::max(wrong.line, 1U) - 1, std::max(wrong.column, 1U)}, std::string(wrong.rule()));
    program.definitions.push_back(one->text);
  }
}

/// What the program has more of since the last line stands on this one.
void note_parts(const Program& program, std::size_t line, PartLines& where) {
  const std::array<std::size_t, part_count> sizes{program.inputs.size(),  program.buffers.size(), program.steps.size(),
                                                  program.outputs.size(), program.updates.size(), program.wishes.size()};
  for (std::size_t part = 0; part < part_count; ++part) where.lines[part].resize(sizes[part], line);
}

/// A step without a source line gets this one.
void place(std::variant<Call, Differentiate, Assign>& step, const std::string& file, std::size_t line) {
  Source& source = std::visit([](auto& one) -> Source& { return one.source; }, step);
  if (!source.file.empty()) return;
  source.file = file;
  source.line = static_cast<std::uint32_t>(line);
}

}  // namespace

Program parse_program(std::string_view text) {
  PartLines where;
  return parse_program(text, "", where);
}

Program parse_program(std::string_view text, const std::string& file) {
  PartLines where;
  return parse_program(text, file, where);
}

Program parse_program(std::string_view text, const std::string& file, PartLines& where) {
  Program program;
  Lines lines(text);
  while (!lines.at_end()) {
    const std::string_view line = lines.take();
    const std::size_t before = program.steps.size();
    if (holds_only(line, opening)) definitions(lines, program, where);
    else if (auto found = assignment_in(line, lines.number()))
      LineParser(line, LineLexer(line, lines.number(), found->end), program).finish(std::move(found->assignment));
    else LineParser(line, LineLexer(line, lines.number()), program).run();
    note_parts(program, lines.number(), where);
    if (!file.empty() && program.steps.size() > before) place(program.steps.back(), file, lines.number());
  }
  return program;
}

}  // namespace etalon::spec
