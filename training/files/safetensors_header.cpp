#include "training/files/safetensors_header.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::training {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<DType, std::string_view>, 7> types{{{DType::f16, "F16"},
                                                                   {DType::bf16, "BF16"},
                                                                   {DType::f32, "F32"},
                                                                   {DType::f64, "F64"},
                                                                   {DType::i32, "I32"},
                                                                   {DType::i64, "I64"},
                                                                   {DType::boolean, "BOOL"}}};

[[nodiscard]] std::optional<DType> type_named(std::string_view name) {
  for (const auto& [dtype, known] : types) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

/// Takes the header event by event: a document would keep only the last of two equal keys.
class Reader final : public json::json_sax_t {
 public:
  explicit Reader(std::string_view where) : where_(where) {}

  [[nodiscard]] std::vector<SafetensorsEntry> entries() && { return std::move(entries_); }

  bool start_object(std::size_t /*size*/) override {
    switch (place_) {
      case Place::before:
        place_ = Place::tensors;
        return true;
      case Place::tensors:
        place_ = name_ == safetensors_metadata ? Place::metadata : Place::tensor;
        dtype_.reset();
        shape_.reset();
        range_.reset();
        return true;
      default:
        return refuse("an object");
    }
  }

  bool key(std::string& key) override {
    if (place_ == Place::tensor) return begin_field(key);
    auto& taken = place_ == Place::tensors ? names_ : metadata_;
    if (!taken.insert(key).second) throw IoError(fmt::format("{}: `{}` is there twice", where_, as_quoted(key)));
    if (place_ == Place::tensors) name_ = key;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) finish_tensor();
    place_ = place_ == Place::tensors ? Place::before : Place::tensors;
    return true;
  }

  bool start_array(std::size_t /*size*/) override {
    if (place_ != Place::tensor || field_ == "dtype") return refuse("a list");
    place_ = Place::numbers;
    numbers_.clear();
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    if (field_ == "shape")
      shape_ = std::exchange(numbers_, {});
    else
      range_ = std::exchange(numbers_, {});
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::numbers) return refuse(std::to_string(value));
    numbers_.push_back(value);
    const std::size_t most = field_ == "shape" ? Dims::max_rank : 2;
    if (numbers_.size() <= most) return true;
    throw IoError(fmt::format("{}: `{}` has more than {} numbers in {}", where_, as_quoted(name_), most, field_));
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata) return true;
    if (place_ != Place::tensor || field_ != "dtype") return refuse("'" + as_quoted(value) + "'");
    dtype_ = type_named(value);
    if (dtype_) return true;
    throw IoError(fmt::format("{}: `{}` is {}, which is no type here", where_, as_quoted(name_), as_quoted(value)));
  }

  bool null() override { return refuse("null"); }
  bool boolean(bool value) override { return refuse(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return refuse(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const std::string& text) override { return refuse(as_quoted(text)); }
  bool binary(binary_t& /*value*/) override { return refuse("bytes"); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    throw IoError(fmt::format("{}: the header is no JSON at its byte {}", where_, position));
  }

 private:
  enum class Place : std::uint8_t { before, tensors, tensor, numbers, metadata };

  [[noreturn]] bool refuse(const std::string& found) const {
    if (place_ == Place::before) throw IoError(fmt::format("{}: the header is {}, expected an object", where_, found));
    if (place_ == Place::metadata)
      throw IoError(fmt::format("{}: the metadata holds {}, expected strings", where_, found));
    const bool inside = place_ == Place::tensor || place_ == Place::numbers;
    throw IoError(fmt::format("{}: `{}`: found {}{}", where_, as_quoted(name_), found,
                              inside ? " as " + field_ : ", expected an object with dtype, shape and data_offsets"));
  }

  bool begin_field(const std::string& key) {
    const bool known = key == "dtype" || key == "shape" || key == "data_offsets";
    const bool taken = key == "dtype" ? dtype_.has_value() : key == "shape" ? shape_.has_value() : range_.has_value();
    if (!known || taken) {
      throw IoError(fmt::format("{}: `{}` has {} {}", where_, as_quoted(name_), known ? "a second" : "an unknown",
                                as_quoted(key)));
    }
    field_ = key;
    return true;
  }

  void finish_tensor() {
    if (!dtype_ || !shape_ || !range_ || range_->size() != 2) {
      throw IoError(fmt::format("{}: `{}` lacks {}", where_, as_quoted(name_),
                                !dtype_   ? "dtype"
                                : !shape_ ? "shape"
                                          : "the two data_offsets"));
    }
    SafetensorsEntry entry{name_, {*dtype_, {}}, (*range_)[0], (*range_)[1]};
    std::uint64_t bytes = size_of(*dtype_);
    for (const std::uint64_t extent : *shape_) {
      if (extent > std::uint64_t{INT64_MAX} || __builtin_mul_overflow(bytes, extent, &bytes)) {
        throw IoError(fmt::format("{}: `{}` has more bytes than 64 bits count", where_, as_quoted(name_)));
      }
      entry.type.dims.push_back(static_cast<std::int64_t>(extent));
    }
    if (entry.end < entry.begin || entry.end - entry.begin != bytes || !addressable(entry.type)) {
      throw IoError(fmt::format("{}: `{}` is {} of {} bytes, its data_offsets are {} and {}", where_, as_quoted(name_),
                                to_string(entry.type), bytes, entry.begin, entry.end));
    }
    entries_.push_back(std::move(entry));
  }

  std::string_view where_;
  Place place_ = Place::before;
  std::set<std::string> names_;
  std::set<std::string> metadata_;
  std::vector<SafetensorsEntry> entries_;
  // The tensor that is being read.
  std::string name_;
  std::string field_;
  std::vector<std::uint64_t> numbers_;
  std::optional<DType> dtype_;
  std::optional<std::vector<std::uint64_t>> shape_;
  std::optional<std::vector<std::uint64_t>> range_;
};

}  // namespace

std::string_view safetensors_name_of(DType dtype) {
  for (const auto& [known, name] : types) {
    if (known == dtype) return name;
  }
  throw InternalError("safetensors: a type without a name");
}

std::vector<SafetensorsEntry> safetensors_entries(std::string_view header, std::string_view where) {
  if (!header.starts_with('{')) throw IoError(fmt::format("{}: the header does not begin with {{", where));
  Reader reader(where);
  (void)json::sax_parse(header, &reader);
  return std::move(reader).entries();
}

}  // namespace etalon::training
