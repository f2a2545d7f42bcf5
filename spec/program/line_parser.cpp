#include "spec/program/line_parser.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/program/assignment.hpp"
#include "spec/program/einsum_call.hpp"
#include "spec/program/formula.hpp"
#include "spec/program/line_lexer.hpp"
#include "spec/program/number_text.hpp"
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
    if (in_.peek().form == LineToken::Form::number || in_.is("(") || in_.is("-")) reject_formula("an operation", first_result, column);
    std::string operation = in_.take_word("an operation");
    if (joins_values(in_.peek())) reject_formula("'('", first_result, column);
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

  /// A formula where a call is expected: shows the assignment that says so.
  [[noreturn]] void reject_formula(std::string_view expected, const std::string& result, std::size_t column) const {
    in_.fail(expected, "a formula is an assignment: " + as_quoted(formula_as_assignment(program_, result, line_.substr(column - 1))));
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

}  // namespace

void parse_line(std::string_view line, std::size_t number, Program& program) {
  if (auto found = assignment_in(line, number))
    LineParser(line, LineLexer(line, number, found->end), program).finish(std::move(found->assignment));
  else LineParser(line, LineLexer(line, number), program).run();
}

}  // namespace etalon::spec
