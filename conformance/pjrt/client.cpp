#include "conformance/pjrt/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/wire_message.hpp"

namespace etalon::conformance::pjrt {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 30;  // bytes of an output

constexpr std::array<std::pair<DType, ElementType>, 7> element_types{{{DType::f16, ElementType::f16},
                                                                      {DType::bf16, ElementType::bf16},
                                                                      {DType::f32, ElementType::f32},
                                                                      {DType::f64, ElementType::f64},
                                                                      {DType::i32, ElementType::s32},
                                                                      {DType::i64, ElementType::s64},
                                                                      {DType::boolean, ElementType::pred}}};

[[nodiscard]] ElementType element_type(DType dtype) {
  return std::find_if(element_types.begin(), element_types.end(), [&](const auto& pair) { return pair.first == dtype; })->second;
}

[[nodiscard]] DType dtype_of(ElementType type) {
  const auto* found = std::find_if(element_types.begin(), element_types.end(), [&](const auto& pair) { return pair.second == type; });
  if (found == element_types.end())
    throw IoError(fmt::format("{}: an output has the element type {}, which is none that was asked for", BufferElementType::function.name,
                              static_cast<int>(type)));
  return found->first;
}

[[nodiscard]] OwnedClient created(const Plugin& plugin) {
  ClientCreate args;
  plugin.call(args);
  if (args.client == nullptr) throw IoError(fmt::format("pjrt: {} gave no client", ClientCreate::function.name));
  return {plugin, args.client};
}

[[nodiscard]] Device* first_device(const Plugin& plugin, const OwnedClient& client) {
  ClientAddressableDevices args;
  args.client = client.get();
  plugin.call(args);
  if (args.devices == nullptr || args.num_devices == 0 || args.devices[0] == nullptr)
    throw IoError(fmt::format("pjrt: {} gave no device", ClientAddressableDevices::function.name));
  return args.devices[0];
}

/// CompileOptionsProto: field 3 holds the options of the build, of which 1 is the ordinal of a device (-1: any), 4 and 5
/// are how many replicas and partitions there are.
[[nodiscard]] std::string options_of_compiler() {
  spec::WireMessage build;
  build.number(1, -1).number(4, 1).number(5, 1);
  return spec::WireMessage().message(3, build).text();
}

/// Of a buffer whose extents the plug-in says. \throws IoError for what no tensor has
[[nodiscard]] Dims dims_of(const BufferDimensions& said, DType dtype) {
  if (said.num_dims > Dims::max_rank || (said.dims == nullptr && said.num_dims > 0))
    throw IoError(fmt::format("{}: an output cannot have {} axes", BufferDimensions::function.name, said.num_dims));
  Dims dims;
  auto bytes = static_cast<std::int64_t>(size_of(dtype));
  for (std::size_t axis = 0; axis < said.num_dims; ++axis) {
    const std::int64_t extent = said.dims[axis];
    if (extent < 0 || __builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes) || bytes > largest)
      throw IoError(fmt::format("{}: {} is no extent of an output", BufferDimensions::function.name, extent));
    dims.push_back(extent);
  }
  return dims;
}

[[nodiscard]] std::string text_of(const char* text, std::size_t size) {
  return text == nullptr ? "" : as_quoted(std::string_view(text, size));
}

}  // namespace

ClientOnDevice::ClientOnDevice(const std::string& path)
    : plugin_(path), client_(created(plugin_)), device_(first_device(plugin_, client_)) {}

std::string ClientOnDevice::platform_name() const {
  ClientPlatformName args;
  args.client = client_.get();
  plugin_.call(args);
  return text_of(args.name, args.name_size);
}

std::string ClientOnDevice::platform_version() const {
  ClientPlatformVersion args;
  args.client = client_.get();
  plugin_.call(args);
  return text_of(args.version, args.version_size);
}

Compiled ClientOnDevice::compile(std::string text) const {
  constexpr std::string_view format = "mlir";
  Program program;
  program.head.size = stated_size<Program>();
  program.code = text.data();
  program.code_size = text.size();
  program.format = format.data();
  program.format_size = format.size();
  const std::string options = options_of_compiler();
  ClientCompile args;
  args.client = client_.get();
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  plugin_.call(args);
  if (args.executable == nullptr) throw IoError(fmt::format("{} gave no executable", ClientCompile::function.name));
  OwnedLoadedExecutable executable(plugin_, args.executable);
  LoadedExecutableGetExecutable unloaded;
  unloaded.loaded_executable = executable.get();
  plugin_.call(unloaded);
  if (unloaded.executable == nullptr) throw IoError(fmt::format("{} gave none", LoadedExecutableGetExecutable::function.name));
  const OwnedExecutable owned(plugin_, unloaded.executable);
  ExecutableNumOutputs outputs;
  outputs.executable = owned.get();
  plugin_.call(outputs);
  return {std::move(executable), outputs.num_outputs};
}

OwnedBuffer ClientOnDevice::to_device(const HostTensor& tensor) const {
  static constexpr double nothing = 0;  // an address for tensors without elements
  const std::vector<std::int64_t> dims(tensor.dims.begin(), tensor.dims.end());
  ClientBufferFromHostBuffer args;
  args.client = client_.get();
  args.data = tensor.bytes.empty() ? static_cast<const void*>(&nothing) : tensor.bytes.data();
  args.type = element_type(tensor.dtype);
  args.dims = dims.data();
  args.num_dims = dims.size();
  args.semantics = HostBufferSemantics::immutable_only_during_call;
  args.device = device_;
  plugin_.call(args);
  OwnedBuffer buffer(plugin_, args.buffer);
  await(plugin_, args.done_with_host_buffer);
  if (args.buffer == nullptr) throw IoError(fmt::format("{} gave no buffer", ClientBufferFromHostBuffer::function.name));
  return buffer;
}

HostTensor ClientOnDevice::to_host(const OwnedBuffer& buffer) const {
  BufferElementType type;
  type.buffer = buffer.get();
  plugin_.call(type);
  BufferDimensions dimensions;
  dimensions.buffer = buffer.get();
  plugin_.call(dimensions);
  const DType dtype = dtype_of(type.type);
  HostTensor tensor(dtype, dims_of(dimensions, dtype));

  // Without a layout of ours the numbers would come as they lie on the device.
  std::vector<std::int64_t> row_major(tensor.dims.rank);
  std::iota(row_major.rbegin(), row_major.rend(), 0);
  MemoryLayout layout;
  layout.head.size = stated_size<MemoryLayout>();
  layout.tiled.head.size = stated_size<MemoryLayoutTiled>();
  layout.tiled.minor_to_major = row_major.data();
  layout.tiled.minor_to_major_size = row_major.size();
  std::byte nothing{};
  BufferToHostBuffer args;
  args.source = buffer.get();
  args.host_layout = &layout;
  args.destination = tensor.bytes.empty() ? &nothing : tensor.bytes.data();
  args.destination_size = tensor.bytes.size();
  plugin_.call(args);
  if (args.event == nullptr)
    throw IoError(fmt::format("{} gave no event, so that nobody knows when it is done", BufferToHostBuffer::function.name));
  await(plugin_, args.event);
  return tensor;
}

std::vector<OwnedBuffer> ClientOnDevice::execute(const Compiled& compiled, const std::vector<OwnedBuffer>& arguments) const {
  std::vector<Buffer*> given, made(compiled.outputs, nullptr);
  for (const OwnedBuffer& argument : arguments) given.push_back(argument.get());
  Buffer* const* const argument_list = given.data();
  Buffer** const output_list = made.data();
  ExecuteOptions options;
  options.head.size = stated_size<ExecuteOptions>();
  Event* done = nullptr;
  LoadedExecutableExecute args;
  args.executable = compiled.executable.get();
  args.options = &options;
  args.argument_lists = &argument_list;
  args.num_devices = 1;
  args.num_args = given.size();
  args.output_lists = &output_list;
  args.device_complete_events = &done;
  plugin_.call(args);
  std::vector<OwnedBuffer> outputs;
  for (Buffer* buffer : made) outputs.emplace_back(plugin_, buffer);
  await(plugin_, done);
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i] == nullptr) throw IoError(fmt::format("{}: there is no output {}", LoadedExecutableExecute::function.name, i));
  }
  return outputs;
}

std::vector<HostTensor> ClientOnDevice::run(const Compiled& compiled, std::span<const HostTensor> inputs) const {
  std::vector<OwnedBuffer> arguments;
  for (const HostTensor& input : inputs) arguments.push_back(to_device(input));
  std::vector<HostTensor> outputs;
  for (const OwnedBuffer& output : execute(compiled, arguments)) outputs.push_back(to_host(output));
  return outputs;
}

}  // namespace etalon::conformance::pjrt
