#ifdef ETALON_HAS_COMPILED

#include "tools/command/emission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "compiled/emit/kept_code.hpp"
#include "compiled/emit/text/c_file.hpp"
#include "cuda/cuda_file.hpp"
#include "cuda/gpu.hpp"
#include "cuda/grid.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/resources.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/nearest.hpp"

namespace etalon::command {

namespace {

/// The compiler's own dump of one form.
std::string dumped(const Emission& emission, const std::string& form) {
  std::string all;
  compiled::CompileOptions options = emission.options;
  options.dump_after = {form};
  options.dump = [&](std::string_view, const std::string& text) { all += text; };
  (void)compiled::compile(emission.program, options);
  return all;
}

/// What the sources are written from.
class Source {
 public:
  explicit Source(const Emission& emission, const compiled::Machine& machine = {})
      : task_(compiled::task_of(emission.program)), lowered_(compiled::source::lower_for_text(task_, emission.options, machine)),
        text_(task_, lowered_, emission.name) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  [[nodiscard]] const compiled::source::ProgramText& text() const { return text_; }
  [[nodiscard]] const std::vector<compiled::DecisionLine>& decided() const { return lowered_.deciding.taken(); }

 private:
  compiled::Task task_;
  compiled::Compilation lowered_;
  compiled::source::ProgramText text_;
};

/// Machine code is for a device, and there is none to ask.
std::string device_of(const Emission& emission) { return emission.architecture.empty() ? "sm_90" : emission.architecture; }

std::string cubin_of(const Emission& emission) {
  const std::string text = cuda::cuda_file(Source(emission, cuda::machine).text()), architecture = device_of(emission);
  return compiled::KeptCode(emission.options.cache).of(cuda::key_of_image(text, architecture), [&] { return cuda::compile_to_machine_code(text, architecture).cubin; });
}

std::string resources_of(const Emission& emission) {
  const cuda::Gpu& gpu = cuda::gpu_of(device_of(emission));
  const Source source(emission, cuda::machine);
  return cuda::to_text(cuda::uses_of(source.text(), cuda::compile_to_machine_code(cuda::cuda_file(source.text()), device_of(emission)).cubin, gpu), gpu);
}

std::string ptx_of(const Emission& emission) {
  const std::string text = cuda::cuda_file(Source(emission, cuda::machine).text());
  return emission.architecture.empty() ? cuda::compile_to_ptx(text) : cuda::compile_to_ptx(text, emission.architecture);
}

}  // namespace

const std::vector<EmittedForm>& emitted_forms() {
  static const std::vector<EmittedForm> forms{
      {"program", "txt", "the program as it was understood"},
      {"equations", "txt", "the one system of equations that it stands for"},
      {"plan", "txt", "kernels, memory and the reasons"},
      {"loops", "txt", "the kernels as loops"},
      {"llvm", "ll", "LLVM's intermediate code for this machine"},
      {"asm", "s", "assembly for this machine"},
      {"c", "c", "C99 that needs <math.h> alone"},
      {"cuda", "cu", "CUDA C++"},
      {"ptx", "ptx", "what NVRTC makes of the CUDA C++"},
      {"cubin", "cubin", "its machine code, an ELF file"},
      {"resources", "txt", "what kernels take of a GPU, by their machine code"},
  };
  return forms;
}

/// Of the text that a stage leaves.
std::string_view extension_after(std::string_view stage) {
  const auto all = compiled::stages();
  const auto it = std::find_if(all.begin(), all.end(), [&](const compiled::Stage& s) { return s.name == stage; });
  const auto& known = emitted_forms();
  const auto form = std::find_if(known.begin(), known.end(), [&](const EmittedForm& f) { return it != all.end() && f.name == name_of(it->leaves); });
  return form == known.end() ? "txt" : form->extension;
}

std::string emitted(const Emission& emission, const std::string& form) {
  if (form == "program") return to_text(emission.program);
  if (form == "equations") return to_text(compiled::task_of(emission.program).system);
  if (form == "plan" || form == "loops" || form == "llvm" || form == "asm") return dumped(emission, form);
  if (form == "c") return compiled::source::c_file(Source(emission).text());
  if (form == "cuda") return cuda::cuda_file(Source(emission, cuda::machine).text());
  if (form == "ptx") return ptx_of(emission);
  if (form == "cubin") return cubin_of(emission);
  if (form == "resources") return resources_of(emission);
  std::string known;
  for (const EmittedForm& f : emitted_forms()) known += (known.empty() ? "" : ", ") + std::string(f.name);
  throw SpecViolation("--emit: unknown form '" + form + "'; there are " + known);
}

std::vector<compiled::DecisionLine> decided(const Emission& emission, const std::string& form) {
  constexpr std::array<std::string_view, 4> for_grids{"cuda", "ptx", "cubin", "resources"};
  if (std::ranges::find(for_grids, form) != for_grids.end()) return Source(emission, cuda::machine).decided();
  if (form == "c") return Source(emission).decided();
  return compiled::compile(emission.program, emission.options).report().decisions;
}

std::vector<std::string> write_stages(const Emission& emission, const std::filesystem::path& folder) {
  make_folder(folder);
  std::vector<std::pair<std::string, std::string>> stages;  // of the compiler: file name without number, text
  const auto collect = [&](std::string_view stage, std::string_view extension, const std::string& text) {
    const std::string name = fmt::format("{}.{}", stage, extension);
    if (!stages.empty() && stages.back().first == name) stages.back().second += text;
    else stages.emplace_back(name, text);
  };
  compiled::CompileOptions options = emission.options;
  options.dump_after = {"all"};
  options.dump = [&](std::string_view stage, const std::string& text) { collect(fmt::format("after-{}", stage), extension_after(stage), text); };
  collect("program", "txt", emitted(emission, "program"));
  collect("equations", "txt", emitted(emission, "equations"));
  (void)compiled::compile(emission.program, options);
  collect("c", "c", emitted(emission, "c"));
  collect("cuda", "cu", emitted(emission, "cuda"));
  if (cuda::has_nvrtc()) collect("ptx", "ptx", emitted(emission, "ptx"));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    names.push_back(fmt::format("{:02}-{}", i, stages[i].first));
    write_file(folder / names.back(), stages[i].second);
  }
  return names;
}

}  // namespace etalon::command

#endif
