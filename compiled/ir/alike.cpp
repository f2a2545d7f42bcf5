#include "compiled/ir/alike.hpp"

#include <bit>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace etalon::compiled::loops {

namespace {

/// Writes down all of a kernel but its names: tensors and variables are numbered as they come. Members are taken apart one
/// by one, so that a new one does not compile until it stands here.
class Writer {
 public:
  explicit Writer(const spec::System& system) : system_(system) {}

  std::string text;
  std::vector<TensorId> tensors;

  void put(const Nest& nest) {
    const auto& [name, zeroed, buffers, steps, work] = nest;
    put(zeroed.size());
    for (const TensorId t : zeroed) tensor(t);
    put_all(buffers, steps);
  }

 private:
  template <class... T>
  void put_all(const T&... each) {
    (put(each), ...);
  }

  template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void put(T value) {
    const auto wide = static_cast<std::uint64_t>(value);
    for (unsigned shift = 0;; shift += 7) {  // seven bits a byte: most numbers are small
      const std::uint64_t rest = wide >> shift;
      text.push_back(static_cast<char>((rest & 127U) | (rest > 127 ? 128U : 0U)));
      if (rest <= 127) return;
    }
  }

  template <class T>
  void put(const std::vector<T>& all) {
    put(all.size());
    for (const T& one : all) put(one);
  }

  template <class T>
  void put(const std::optional<T>& perhaps) {
    put(perhaps.has_value());
    if (perhaps) put(*perhaps);
  }

  template <class First, class Second>
  void put(const std::pair<First, Second>& both) {
    put_all(both.first, both.second);
  }

  void tensor(TensorId id) {
    const auto [found, first] = tensor_number_.emplace(id, tensors.size());
    put(found->second);
    if (!first) return;
    tensors.push_back(id);
    const auto& [name, dtype, dims, range] = system_[id];
    put_all(dtype, std::vector<std::int64_t>(dims.begin(), dims.end()), range);
  }

  void variable(spec::VariableId id) { put(variable_number_.emplace(id, variable_number_.size()).first->second); }

  void put(const Buffer& buffer) {
    const auto& [t, scope, read, written, bytes, offset] = buffer;
    tensor(t);
    put_all(scope, read, written, bytes, offset);
  }

  void put(const Binder& b) {
    const auto& [id, extent, name] = b;
    variable(id);
    put(extent);
  }

  void put(const spec::Number& number) {
    const auto& [mantissa, exponent, is_binary, binary, rest] = number;
    put_all(mantissa, exponent, is_binary, std::bit_cast<std::uint64_t>(binary), std::vector<char>(rest.begin(), rest.end()));
  }

  /// Of the members those that count for the form.
  void put(const Expr& e) {
    put(e.valid());
    if (!e.valid()) return;
    const auto& [form, kind, number, id, name, read, primitive, reduction, binders, args, hash] = *e;
    put_all(form, kind);
    if (form == spec::Form::number) put(number);
    if (form == spec::Form::variable) variable(id);
    if (form == spec::Form::read) tensor(read);
    if (form == spec::Form::apply) put(primitive);
    if (form == spec::Form::reduce) put(reduction);
    put_all(binders, args);
  }

  void put(const Loop& loop) {
    const auto& [binder, bind, width, steps, fetched, limit, merged] = loop;
    put_all(limit, binder, bind, width, steps, fetched);
  }

  void put(const FetchedRow& row) {
    const auto& [element, write] = row;
    put_all(element, write);
  }

  void put(const Reduce& r) {
    const auto& [target, reduction, loops, tree, guard, body, otherwise, reached] = r;
    variable(target);
    put_all(reduction, loops, tree, guard, body, otherwise, reached);
  }

  void put(const Tree& tree) {
    const auto& [chains, blocks] = tree;
    put_all(chains, blocks);
  }

  void put(const TermBlocks& blocks) {
    const auto& [level, turns] = blocks;
    put_all(level, turns);
  }

  void put(const Store& store) {
    const auto& [target, place, value, guard, add, streamed] = store;
    tensor(target);
    put_all(place, value, guard, add, streamed);
  }

  void put(const Define& d) {
    const auto& [target, value, dtype] = d;
    variable(target);
    put_all(value, dtype);
  }

  void put(const Packing& p) { put(p.layout); }

  void put(const DepthWalk& walk) {
    const auto& [level, turns, inside, blocks, taps] = walk;
    put_all(level, turns, inside, blocks, taps);
  }

  void put(const BlockTile& tile) {
    const auto& [rows, columns, steps, stages, left_copied, right_copied] = tile;
    put_all(rows, columns, steps, stages, left_copied, right_copied);
  }

  void put(const Schedule& s) {
    const auto& [row, column, lanes, tile_rows, tile_columns, unroll, depth, adder, across, shared_taps, side_by_side, guards_taps, block_rows, block_columns, fetch_ahead,
                 columns_outside, left, right, fragments, shared, reason] = s;
    put_all(row, column, lanes, tile_rows, tile_columns, unroll, depth, across, shared_taps, side_by_side, guards_taps, block_rows, block_columns,
            fetch_ahead, columns_outside, left, right, shared);
    put(adder == nullptr ? 0 : adder - term_adders().data() + 1);
    put(fragments == nullptr ? 0 : fragments - fragment_adders().data() + 1);
  }

  void put(const FetchAhead& ahead) {
    const auto& [first, bytes, number, blocks] = ahead;
    put_all(first, bytes, number, blocks);
  }

  void put(const Contract& c) {
    const auto& [target, row, column, depth, left, right, guard, taps, first_row, first_column, schedule, wanted, ahead, steps] = c;
    variable(target);
    put_all(wanted, row, column, depth, left, right, guard, taps, first_row, first_column, schedule, ahead, steps);
  }

  void put(const Transpose& t) {
    const auto& [across, down, width, target, value, store] = t;
    variable(target);
    put_all(across, down, width, value, store);
  }

  void put(const Step& step) {
    const auto& [is, real] = step;
    put(is.index());
    std::visit([&](const auto& one) { put(one); }, is);
    put(real);
  }

  const spec::System& system_;
  std::unordered_map<TensorId, std::size_t> tensor_number_;
  std::unordered_map<spec::VariableId, std::size_t> variable_number_;
};

}  // namespace

std::vector<Likeness> find_alike(const spec::System& system, const std::vector<Nest>& nests) {
  std::unordered_map<std::string, std::size_t> models;
  std::vector<Likeness> found;
  found.reserve(nests.size());
  for (std::size_t i = 0; i < nests.size(); ++i) {
    Writer writer(system);
    writer.put(nests[i]);
    found.push_back({models.try_emplace(std::move(writer.text), i).first->second, std::move(writer.tensors)});
  }
  return found;
}

}  // namespace etalon::compiled::loops
