/// \file
/// The readers that are fuzzed and their seeds, one pair per kind of text; target.hpp says what they promise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/target.hpp"

namespace etalon::fuzz {

/// Definitions; those that can be read are called with small operands.
void read_notation(std::string_view text);
[[nodiscard]] std::vector<std::string> notation_seeds();

/// Definitions with a call each, checked and, one in ten, asked of the reference; bytes that are none make one.
void read_definitions(std::string_view text);
[[nodiscard]] std::vector<std::string> definitions_seeds();

/// An einsum's specification; semiring and captures on the lines after it.
void read_einsum(std::string_view text);
[[nodiscard]] std::vector<std::string> einsum_seeds();

/// The text form of a program, which is then verified and lowered.
void read_program(std::string_view text);
[[nodiscard]] std::vector<std::string> program_seeds();

/// The JSON form of a program.
void read_program_json(std::string_view text);
[[nodiscard]] std::vector<std::string> program_json_seeds();

/// A request of the protocol.
void read_request(std::string_view text);
[[nodiscard]] std::vector<std::string> request_seeds();

/// What a backend writes: an answer, which is then judged, or a description.
void read_answer(std::string_view text);
[[nodiscard]] std::vector<std::string> answer_seeds();

void read_contract(std::string_view text);
[[nodiscard]] std::vector<std::string> contract_seeds();

/// A case file, or the id of a case.
void read_case(std::string_view text);
[[nodiscard]] std::vector<std::string> case_seeds();

/// A file of a golden pack; its tests judge what they say is meant.
void read_pack(std::string_view text);
[[nodiscard]] std::vector<std::string> pack_seeds();

/// A model of ONNX, which is then imported.
void read_onnx(std::string_view text);
[[nodiscard]] std::vector<std::string> onnx_seeds();

/// A question about texts: a definition or a program to be checked, differentiated, explained.
void read_door(std::string_view text);
[[nodiscard]] std::vector<std::string> door_seeds();
/// A module of StableHLO, imported.
void read_stablehlo(std::string_view text);
[[nodiscard]] std::vector<std::string> stablehlo_seeds();

/// A file of waivers.
void read_waivers(std::string_view text);
[[nodiscard]] std::vector<std::string> waivers_seeds();

#ifdef ETALON_COMPILED
/// The loops of kernels, which are then verified.
void read_loops(std::string_view text);
[[nodiscard]] std::vector<std::string> loops_seeds();
#endif

/// The JSON lines of a report.
void read_report(std::string_view text);
[[nodiscard]] std::vector<std::string> report_seeds();

/// A log of a program's assignments.
void read_log(std::string_view text);
[[nodiscard]] std::vector<std::string> log_seeds();

/// Golden cases.
void read_golden(std::string_view text);
[[nodiscard]] std::vector<std::string> golden_seeds();

/// The lines of the digits.
void read_data(std::string_view text);
[[nodiscard]] std::vector<std::string> data_seeds();

/// A file of csv, with names of columns and without; what is read can be trained on.
void read_csv(std::string_view text);
[[nodiscard]] std::vector<std::string> csv_seeds();

/// An array in the formats idx and npy; what is read as a matrix can be trained on.
void read_idx(std::string_view text);
[[nodiscard]] std::vector<std::string> idx_seeds();
void read_npy(std::string_view text);
[[nodiscard]] std::vector<std::string> npy_seeds();

/// Bytes that were compressed by gzip.
void read_gzip(std::string_view text);
[[nodiscard]] std::vector<std::string> gzip_seeds();

/// Tensors in the two formats that are read.
void read_safetensors(std::string_view text);
[[nodiscard]] std::vector<std::string> safetensors_seeds();
void read_npz(std::string_view text);
[[nodiscard]] std::vector<std::string> npz_seeds();

}  // namespace etalon::fuzz
