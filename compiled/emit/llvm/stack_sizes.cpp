#include "compiled/emit/llvm/stack_sizes.hpp"

#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/DataExtractor.h>

#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

using llvm::object::SectionRef;

template <class T>
T require(llvm::Expected<T> value) {
  if (!value) throw InternalError("codegen: stack sizes: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

/// Functions by where they begin: section and place in it.
using Places = std::map<std::pair<std::uint64_t, std::uint64_t>, std::string>;

Places places_of_functions(const llvm::object::ObjectFile& file) {
  Places places;
  for (const llvm::object::SymbolRef& symbol : file.symbols()) {
    if (require(symbol.getType()) != llvm::object::SymbolRef::ST_Function) continue;
    const auto section = require(symbol.getSection());
    if (section != file.section_end()) places[{section->getIndex(), require(symbol.getValue())}] = require(symbol.getName()).str();
  }
  return places;
}

/// The function that a relocation of an address means.
const std::string& function_at(const llvm::object::ObjectFile& file, const llvm::object::RelocationRef& address, const Places& places) {
  const auto symbol = address.getSymbol();
  if (symbol == file.symbol_end()) throw InternalError("codegen: stack sizes: an address of nothing");
  const auto section = require(symbol->getSection());
  const auto addend = static_cast<std::uint64_t>(require(llvm::object::ELFRelocationRef(address).getAddend()));
  const auto found = places.find({section->getIndex(), require(symbol->getValue()) + addend});
  if (found == places.end()) throw InternalError("codegen: stack sizes: an address of no function");
  return found->second;
}

}  // namespace

std::map<std::string, std::uint64_t> stack_sizes(const llvm::MemoryBuffer& object) {
  const auto file = require(llvm::object::ObjectFile::createELFObjectFile(object.getMemBufferRef()));
  const Places places = places_of_functions(*file);
  std::map<std::string, std::uint64_t> sizes;
  for (const SectionRef& relocations : file->sections()) {
    const auto sized = require(relocations.getRelocatedSection());
    if (sized == file->section_end() || require(sized->getName()) != ".stack_sizes") continue;
    const llvm::DataExtractor data(require(sized->getContents()), file->isLittleEndian(), file->getBytesInAddress());
    for (const llvm::object::RelocationRef& address : relocations.relocations()) {
      // An entry is the function's address and, as a number of variable length, its bytes.
      std::uint64_t at = address.getOffset() + file->getBytesInAddress();
      sizes[function_at(*file, address, places)] = data.getULEB128(&at);
    }
  }
  return sizes;
}

}  // namespace etalon::compiled
