#include "spec/notation/lately_instantiated.hpp"

#include <type_traits>
#include <utility>
#include <variant>

namespace etalon::spec::notation {
namespace {

/// Every item says how long it is, so that no two keys read the same.
class Key {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void add(T number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(const ValueName& value) { add(value.name); }
  template <class T>
  void add(const std::vector<T>& list) {
    add(list.size());
    for (const T item : list) add(item);
  }
  void add(const AttributeValue& value) {
    add(value.index());
    std::visit([&](const auto& v) { add(v); }, value);
  }
  void add(const ValueType& type) {
    add(static_cast<int>(type.dtype));
    add(type.dims.rank);
    for (const std::int64_t extent : type.dims) add(extent);
  }
  void add(const Definition& d) {
    add(d.name);
    add(d.text);
    add(d.callee_count);
    for (std::size_t i = 0; i < d.callee_count; ++i) add(*d.callees[i]);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

std::string key_of(const Definition& definition, std::size_t part, std::span<const std::optional<ValueType>> operands,
                   std::span<const std::size_t> packs, const Attributes& attributes) {
  Key key;
  key.add(definition);
  key.add(part);
  key.add(operands.size());
  for (const auto& operand : operands) {
    key.add(operand.has_value());
    if (operand) key.add(*operand);
  }
  key.add(packs.size());
  for (const std::size_t members : packs) key.add(members);
  for (const auto& [name, value] : attributes) {
    key.add(name);
    key.add(value);
  }
  return key.take();
}

const Instance* LatelyInstantiated::find(const std::string& key) {
  if (const auto found = recent_.find(key); found != recent_.end()) return &found->second;
  auto node = older_.extract(key);
  if (node.empty()) return nullptr;
  make_room();
  return &recent_.insert(std::move(node)).position->second;
}

void LatelyInstantiated::keep(std::string key, const Instance& instance) {
  make_room();
  recent_.insert_or_assign(std::move(key), instance);
}

void LatelyInstantiated::make_room() {
  if (recent_.size() >= at_least) older_ = std::exchange(recent_, {});
}

}  // namespace etalon::spec::notation
