/// \file
/// A module of StableHLO as data: what its text says, read and not yet understood. It knows the notation of MLIR, and
/// of instructions only how they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/interchange/stablehlo/tensor_type.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::conformance::stablehlo {

/// A place in the text, both counted from 1.
struct Position {
  std::uint32_t line = 0, column = 0;
};

/// A type; or why it is not offered, as in `tensors of ui8 are not offered`.
using Type = std::variant<TensorType, std::string>;

/// The numbers of `dense<…>`; or why there are none.
using Numbers = std::variant<HostTensor, std::string>;

struct Attribute;
using AttributeList = std::vector<Attribute>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

/// An attribute's value. Words are texts: enumerators, symbols `@f`, and what is in quotation marks.
struct Attribute {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Numbers, AttributeList, Attributes> value;
};

struct Block;

/// An instruction.
struct Operation {
  Position at;
  std::string name;                   ///< `stablehlo.add`
  std::vector<std::string> operands;  ///< `%x`, or `%x#1` of one that has several results
  std::vector<std::string> results;
  Attributes attributes;
  std::vector<std::string> words;  ///< of the pretty form: `GT` and `FLOAT` of a comparison
  std::vector<Block> regions;      ///< of one block each
  std::vector<Type> types;         ///< of the results; fewer where the instruction is none that is known
};

struct Block {
  std::vector<std::pair<std::string, Type>> arguments;
  std::vector<Operation> operations;
};

struct Function {
  std::string name;
  Position at;
  Block body;
};

struct Module {
  std::vector<Function> functions;  ///< those that have a body
};

/// The module in a file's text. Instructions that are not known are passed over as far as they go; whoever translates
/// refuses them.
/// \param where the file's name in messages
/// \throws IoError `where:17:5: expected …, found …` for a text that is none, for bytecode with the command that prints
/// its text, beyond 2 GiB, and for what stands more than 64 deep
[[nodiscard]] Module read_module(std::string_view text, std::string_view where);

}  // namespace etalon::conformance::stablehlo
