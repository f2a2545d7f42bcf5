// A program as CUDA C++.
#include <iostream>

#include "cuda/cuda_file.hpp"
#include "cuda/grid.hpp"

int main() {
  const etalon::spec::Program program = etalon::spec::parse_program("input x : f32[3]\ny = relu(x)\noutput y\n");
  const etalon::compiled::Task task = etalon::compiled::task_of(program);
  const etalon::compiled::Compilation lowered = etalon::compiled::source::lower_for_text(task, {}, etalon::cuda::machine);
  const std::string text = etalon::cuda::cuda_file(etalon::compiled::source::ProgramText(task, lowered, "step"));
  std::cout << text.size() << " characters of CUDA C++\n";
  return text.find("__global__") == std::string::npos;
}
