#include "conformance/interchange/stablehlo/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "conformance/interchange/stablehlo/rows.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::stablehlo {
namespace {

/// Calls in calls, and instructions of all calls together: beyond this a module is none that a program is made of.
constexpr std::size_t deepest_call = 32, most_instructions = 100'000;

class Importer {
 public:
  Importer(const Module& module, const ImportOptions& options)
      : module_(module), options_(options), writer_(options.file) {}

  [[nodiscard]] Imported run() {
    const Function* function = entry();
    if (function == nullptr) return std::move(found_);
    Values arguments;
    for (const auto& [name, type] : function->body.arguments) arguments.push_back(argument(*function, name, type));
    const auto results = run(*function, arguments, 0);
    if (found_.refused.empty()) finish(*results);
    return std::move(found_);
  }

 private:
  using Known = std::map<std::string, Value,
                         std::less<>>;  ///< values of one call by their names; nullptr where why has been said

  void refuse_at(Position at, std::string_view why) {
    found_.refused.push_back(fmt::format("{}:{}:{}: {}", options_.file, at.line, at.column, on_one_line(why)));
  }

  [[nodiscard]] const Function* find(std::string_view name) const {
    const auto at = std::find_if(module_.functions.begin(), module_.functions.end(),
                                 [&](const Function& f) { return f.name == name; });
    return at == module_.functions.end() ? nullptr : &*at;
  }

  [[nodiscard]] const Function* entry() {
    const Function* function = find(options_.function.empty() ? "main" : options_.function);
    if (function == nullptr && options_.function.empty() && module_.functions.size() == 1)
      function = &module_.functions.front();
    if (function == nullptr)
      found_.refused.push_back(
          options_.function.empty()
              ? fmt::format("{}: there is no function \"main\"; name one of the {}", options_.file,
                            module_.functions.size())
              : fmt::format("{}: there is no function \"{}\"", options_.file, as_quoted(options_.function)));
    return function;
  }

  [[nodiscard]] Value argument(const Function& function, const std::string& name, const Type& type) {
    try {
      if (const auto* why = std::get_if<std::string>(&type)) throw Refused(*why);
      refuse(name.empty(), "it has no name");
      const auto& tensor = std::get<TensorType>(type);
      refuse(tensor.extents.size() > Dims::max_rank,
             fmt::format("tensors of {} axes are not offered", tensor.extents.size()));
      auto item = std::make_shared<Item>();
      item->name = name.substr(1);
      item->type.dtype = tensor.dtype;
      for (const std::int64_t extent : tensor.extents) item->type.dims.push_back(extent);
      refuse(!addressable(item->type), "it is larger than memory");
      return item;
    } catch (const Refused& why) {
      refuse_at(function.at, fmt::format("argument \"{}\": {}", as_quoted(name), why.what()));
      return nullptr;
    }
  }

  /// The function's results; nothing where one has none, which has been said.
  [[nodiscard]] std::optional<Values> run(const Function& function, const Values& arguments, std::size_t depth) {
    refuse(depth > deepest_call, fmt::format("calls stand more than {} deep", deepest_call));
    Known known;
    for (std::size_t i = 0; i < arguments.size(); ++i) known[function.body.arguments[i].first] = arguments[i];
    for (const Operation& op : function.body.operations) {
      if (op.name == "func.return") return returned(op, known);
      run(op, known, depth);
    }
    refuse_at(function.at, "a function that does not return");
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Values> returned(const Operation& op, const Known& known) {
    try {
      return operands_of(op, known);
    } catch (const Refused& why) {
      refuse_op(op, why.what());
      return std::nullopt;
    }
  }

  /// The values; nothing where one is missing, which has been said.
  [[nodiscard]] std::optional<Values> operands_of(const Operation& op, const Known& known) {
    std::optional<Values> values(std::in_place);
    for (const std::string& name : op.operands) {
      auto at = known.find(name);
      if (at == known.end() && name.find('#') == std::string::npos) at = known.find(name + "#0");
      if (at == known.end()) throw Refused(fmt::format("\"{}\" is made by no earlier instruction", as_quoted(name)));
      if (at->second == nullptr)
        values.reset();
      else if (values)
        values->push_back(at->second);
      if (!values) return values;
    }
    return values;
  }

  void run(const Operation& op, Known& known, std::size_t depth) {
    for (const std::string& result : op.results) known[result] = nullptr;
    try {
      refuse(++instructions_ > most_instructions,
             fmt::format("more than {} instructions are not offered", most_instructions));
      const Row* row = find_row(op.name);
      const bool is_call = op.name == "func.call" || op.name == "stablehlo.composite";
      const bool is_check = expectation_of(op).has_value();
      if (row == nullptr && !is_call && !is_check) throw Refused(std::string(why_not(op.name)));
      std::optional<Values> operands = operands_of(op, known);
      if (!operands) return;
      if (is_check) return expect(op, *operands);
      const std::optional<Values> results =
          is_call ? called(op, *operands, depth) : std::optional<Values>(translated(*row, op, std::move(*operands)));
      if (!results) return;
      refuse(results->size() != op.results.size(),
             fmt::format("{} results are expected, found {}", results->size(), op.results.size()));
      for (std::size_t i = 0; i < op.results.size(); ++i) known[op.results[i]] = (*results)[i];
      return;
    } catch (const Refused& why) {
      refuse_op(op, why.what());
    } catch (const SpecViolation& why) {
      refuse_op(op, why.what());
    } catch (const Unsupported& why) {
      refuse_op(op, why.what());
    }
  }

  void refuse_op(const Operation& op, std::string_view why) {
    const std::string line = fmt::format("{}: {}", as_quoted(op.name), why);
    if (said_.emplace(op.at.line, op.at.column).second) refuse_at(op.at, line);
  }

  [[nodiscard]] Values translated(const Row& row, const Operation& op, Values operands) {
    const bool are_truths = !operands.empty() && operands.back()->type.dtype == DType::boolean;
    const std::string_view meaning = are_truths ? row.of_truths : row.meaning;
    refuse(meaning.empty(), are_truths ? "truth values are not offered here" : "the bits of numbers are not offered");
    writer_.at_node(op.at.line, "");
    Translation translation(op, meaning, std::move(operands), writer_);
    Values results = row.translate(translation);
    if (const auto name = translation.unread())
      throw Refused(fmt::format("attribute \"{}\" is not offered", as_quoted(*name)));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const spec::ValueType& type = results[i]->type;
      const TensorType made{type.dtype, {type.dims.begin(), type.dims.end()}};
      const TensorType& declared = translation.result(i);
      refuse(made != declared,
             fmt::format("its result is declared as {}, and is {}", to_text(declared), to_text(made)));
    }
    return results;
  }

  [[nodiscard]] std::optional<Values> called(const Operation& op, const Values& operands, std::size_t depth) {
    const auto at = op.attributes.find(op.name == "func.call" ? "callee" : "decomposition");
    const auto* name = at == op.attributes.end() ? nullptr : std::get_if<std::string>(&at->second.value);
    const Function* function = name == nullptr ? nullptr : find(*name);
    refuse(function == nullptr,
           name == nullptr ? "no function is named" : fmt::format("there is no function \"{}\"", as_quoted(*name)));
    refuse(function->body.arguments.size() != operands.size(),
           fmt::format("{} arguments are expected, found {}", function->body.arguments.size(), operands.size()));
    return run(*function, operands, depth + 1);
  }

  /// `check.expect_eq_const %x, dense<…>`, `stablehlo.custom_call @check.expect_close(%x, %y)`, …
  [[nodiscard]] static std::optional<Expectation> expectation_of(const Operation& op) {
    std::string_view name = op.name;
    if (name == "stablehlo.custom_call") {
      for (const char* key : {"callee", "call_target_name"}) {
        const auto at = op.attributes.find(key);
        if (at != op.attributes.end() && std::holds_alternative<std::string>(at->second.value))
          name = std::get<std::string>(at->second.value);
      }
    }
    Expectation made;
    made.line = op.at.line;
    if (name == "check.expect_eq" || name == "check.expect_eq_const")
      made.kind = Expectation::Kind::equal;
    else if (name == "check.expect_almost_eq" || name == "check.expect_almost_eq_const")
      made.kind = Expectation::Kind::almost_equal;
    else if (name == "check.expect_close")
      made.kind = Expectation::Kind::close;
    else
      return std::nullopt;
    return made;
  }

  void expect(const Operation& op, const Values& operands) {
    const auto at = op.attributes.find("value");
    refuse(operands.size() != (at == op.attributes.end() ? 2U : 1U), "a value and what is expected of it");
    Expected made{*expectation_of(op), operands.front(), operands.size() == 2 ? operands.back() : nullptr};
    if (at != op.attributes.end()) {
      const auto* numbers = std::get_if<Numbers>(&at->second.value);
      refuse(numbers == nullptr, "dense<…> is expected");
      if (const auto* why = std::get_if<std::string>(numbers)) throw Refused(*why);
      made.what.numbers = std::get<HostTensor>(*numbers);
    }
    expected_.push_back(std::move(made));
  }

  [[nodiscard]] std::string output(const Value& value, const std::string& name) {
    writer_.at_node(0, "");
    return writer_.output(value, name);
  }

  void answer(const Values& results) {
    for (std::size_t i = 0; i < results.size(); ++i)
      (void)output(results[i], results.size() == 1 ? "result" : fmt::format("result{}", i));
    found_.results = results.size();
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      Expectation& made = expected_[i].what;
      made.output = output(expected_[i].value, fmt::format("checked{}", i));
      if (expected_[i].other && expected_[i].other->known && expected_[i].other->name.empty())
        made.numbers = *expected_[i].other->known;
      else if (expected_[i].other)
        made.expected = output(expected_[i].other, fmt::format("expected{}", i));
      found_.expectations.push_back(std::move(made));
    }
    if (results.empty() && expected_.empty())
      found_.refused.push_back(fmt::format("{}: the function answers nothing", options_.file));
  }

  void finish(const Values& results) {
    try {
      answer(results);
      if (!found_.refused.empty()) return;
      found_.program = writer_.finish();
      found_.inputs = writer_.inputs();
    } catch (const SpecViolation& why) {
      found_.refused.push_back(fmt::format("{}: {}", options_.file, on_one_line(why.what())));
    }
  }

  struct Expected {
    Expectation what;
    Value value, other;
  };

  const Module& module_;
  const ImportOptions& options_;
  Writer writer_;
  Imported found_;
  std::vector<Expected> expected_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> said_;
  std::size_t instructions_ = 0;
};

}  // namespace

Imported import_module(const Module& module, const ImportOptions& options) { return Importer(module, options).run(); }

}  // namespace etalon::conformance::stablehlo
