/// \file
/// Examples from files of one's own: csv, npy, npz, safetensors, idx and text, whichever may be compressed by gzip. It
/// knows no model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "spec/host_tensor.hpp"
#include "training/data/data_file.hpp"
#include "training/data/dataset.hpp"

namespace etalon::training {

/// How files are read.
struct DataChoice {
  std::string format = {};                ///< csv, npy, npz, safetensors, idx or text; empty: by the ending of the file's name
  std::string target = {};                ///< the column or the tensor that is to be answered
  std::string inputs = {};                ///< of npz and safetensors the tensor of inputs; empty: the one other
  std::vector<std::string> ignored = {};  ///< columns of csv that are left out
  std::string separator = {};             ///< of csv, one byte; empty: a tab in files that end in .tsv, else a comma
  bool header = true;                     ///< the first record of csv names the columns; otherwise they are called 1, 2, …
  bool regression = false;                ///< numbers are learned, not classes
  std::int64_t classes = 0;               ///< labels are whole numbers from 0 to one less; 0: what stands there
  std::int64_t context = 8;               ///< bytes of text that come before the one that is to be answered

  friend bool operator==(const DataChoice&, const DataChoice&) = default;
};

/// What was read. Every number is finite as f32, every label a class.
struct Examples {
  Dataset data;
  std::vector<DataFile> files;
  std::vector<std::string> classes = {};  ///< the names of the labels
  std::vector<std::string> columns = {};  ///< the names of the features, where they have some
  std::int64_t vocabulary = 0;            ///< of text: features are positions in it
  bool one_unit = false;                  ///< all features are elements of one tensor
};

/// \param files the data; for npy and idx, which hold one array, the targets' file after it
/// \throws IoError `FILE:LINE: column N, …` or `FILE: …`: what is not as the format has it, a row of another length, an
/// element that is no finite number, a label that is no class; SpecViolation for a choice that does not fit the file, with
/// the nearest name where one is unknown
[[nodiscard]] Examples read_examples(const std::vector<std::filesystem::path>& files, const DataChoice& choice);

/// The same from bytes that are at hand, not packed; `where` stands in messages.
[[nodiscard]] Examples csv_examples(std::string_view text, const std::string& where, const DataChoice& choice);
[[nodiscard]] Examples text_examples(std::string_view text, const std::string& where, const DataChoice& choice);
/// \param inputs its first axis counts rows
[[nodiscard]] Examples tensor_examples(const HostTensor& inputs, const HostTensor& targets, const std::string& where,
                                       const DataChoice& choice);
/// The columns of a matrix, counted from 1: that of `choice.target` is answered by the others.
[[nodiscard]] Examples matrix_examples(const HostTensor& matrix, const std::string& where, const DataChoice& choice);

/// So much of the rows to validate with, at random by the seed; of text, whose rows overlap, the last ones.
/// \throws SpecViolation for a share that is not from 0 to below 1
[[nodiscard]] Split split_of(const Examples& examples, double validation, std::uint64_t seed);

}  // namespace etalon::training
