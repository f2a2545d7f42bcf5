/// \file
/// A program in the making for devices that take text: when all stages are through, somebody loads what was written. It compiles nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiled/runtime/device.hpp"
#include "cuda/module_text.hpp"

namespace etalon::cuda {

/// Its stages of code do nothing: the loops are the last word of the compiler's, and the text is written from them.
class TextBuilder final : public compiled::ModuleBuilder, private compiled::CodeGenerator {
 public:
  using Load = std::function<std::unique_ptr<const compiled::Module>(ModuleText module)>;
  explicit TextBuilder(Load load) : load_(std::move(load)) {}

  [[nodiscard]] compiled::CodeGenerator& generator() override { return *this; }
  [[nodiscard]] std::unique_ptr<const compiled::Module> load(const compiled::Compilation& made, compiled::Report& report) override;

 private:
  void emit(const spec::System&, const std::vector<compiled::loops::Nest>&) override {}
  void merge() override {}
  void look_up() override {}
  void simplify() override {}
  void generate() override {}
  void link() override {}
  void verify() const override {}
  [[nodiscard]] std::string text() const override { return {}; }
  [[nodiscard]] std::string assembly() const override { return {}; }

  Load load_;
};

}  // namespace etalon::cuda
