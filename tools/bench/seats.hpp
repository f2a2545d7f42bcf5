/// \file
/// Who can take part on this machine: Etalon, a copy, and the peers that are installed. It starts nothing but a
/// question whether a Python has PyTorch.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/bench/entrant.hpp"

namespace etalon::bench {

/// Where to look.
struct Places {
  std::filesystem::path command;  ///< of etalon; the peers in C++ lie beside it
  std::filesystem::path scratch;  ///< a folder for the scripts of peers in Python
  std::string python;             ///< with PyTorch; empty for the first of python3 and /usr/bin/python3 that has it
  std::string torch_blas;  ///< a folder with the libblas.so.3 that PyTorch is to use; ignored where there is none
  unsigned most_threads = 1;
  bool busy = false;  ///< others run on the machine: OpenMP's threads are told to sleep while they wait
};

/// Every seat in the order of tables, absent ones with the reason; Etalon's is the first.
/// \throws IoError when the script cannot be written
[[nodiscard]] std::vector<Seat> seats(const Places& places);

/// Who is measured on a device: Etalon first, and on a GPU those who work there. \throws as seats
[[nodiscard]] std::vector<Seat> device_seats(const Places& places, const std::string& device);

/// Etalon, and Etalon without each of its compiler's decisions (variants.hpp).
[[nodiscard]] std::vector<Seat> ablation_seats(const Places& places);

/// Those of that name; all of them without names. \throws SpecViolation with the nearest name
[[nodiscard]] std::vector<Seat> seats_named(const std::vector<Seat>& all, const std::vector<std::string>& names);

}  // namespace etalon::bench
