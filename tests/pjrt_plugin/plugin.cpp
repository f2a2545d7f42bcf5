/// \file
/// A plug-in of PJRT for tests: it reads the text of StableHLO by Etalon's reader and computes by the reference. It is strict
/// about what it is given, and does wrong what FAKE_PJRT says.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "conformance/pjrt/c_api.hpp"
#include "reference/backend.hpp"
#include "tests/pjrt_plugin/fault.hpp"
#include "tests/pjrt_plugin/meaning.hpp"
#include "tests/pjrt_plugin/things.hpp"

namespace etalon::test {

Counts& counts() {
  static Counts all;
  return all;
}

}  // namespace etalon::test

namespace etalon::conformance::pjrt {
namespace {

using test::counts, test::has_fault;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// A function of the table around its body: the struct's size is checked, and what the body throws is the error.
template <class Args, void (*body)(Args&)>
Error* entered(Args* args) {
  try {
    require(args->head.size >= stated_size<Args>() && args->head.extension == nullptr, "the struct is too small");
    if (has_fault("error", Args::function.name)) {
      if constexpr (requires { args->thing; }) body(*args);  // nothing leaks: the memory is ours
      throw std::runtime_error("injected\nhere");
    }
    if (has_fault("unimplemented", Args::function.name)) return new Error("not here", static_cast<int>(ErrorCode::unimplemented));
    body(*args);
    return nullptr;
  } catch (const test::NotOffered& why) {
    return new Error(why.what(), static_cast<int>(ErrorCode::unimplemented));
  } catch (const std::exception& failure) {
    return new Error(failure.what(), 13);
  }
}

template <class Args>
void destroy(Args& args) {
  delete args.thing;
}

[[nodiscard]] Event* new_event(std::string_view where, std::function<void()> action = [] {}) {
  auto* event = new Event;
  event->action = std::move(action);
  if (has_fault("event", where)) event->error = "late";
  return event;
}

void await(EventAwait& args) {
  if (!args.thing->error.empty()) throw std::runtime_error(args.thing->error);
  args.thing->action();
}

void initialize(PluginInitialize&) {
  if (has_fault("talkative")) require(write(STDOUT_FILENO, "hello\n", 6) == 6, "nobody listens");
}
void create(ClientCreate& args) {
  if (!has_fault("no_client")) args.client = new Client;
}
void platform_name(ClientPlatformName& args) {
  static constexpr std::string_view name = "fake";
  args.name = name.data();
  args.name_size = name.size();
}
void platform_version(ClientPlatformVersion& args) {
  static constexpr std::string_view version = "1";
  args.version = version.data();
  args.version_size = version.size();
}
void addressable_devices(ClientAddressableDevices& args) {
  args.devices = args.client->devices;
  args.num_devices = has_fault("no_device") ? 0 : 1;
}

void compile(ClientCompile& args) {
  require(args.program->head.size >= stated_size<Program>(), "the program is too small");
  require(std::string_view(args.program->format, args.program->format_size) == "mlir", "expected the format mlir");
  // Field 3 is a message: -1 as field 1, one replica, one partition.
  require(std::string_view(args.compile_options, args.compile_options_size) ==
              std::string_view("\x1a\x0f\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x20\x01\x28\x01", 17),
          "expected other options");
  if (has_fault("no_executable")) return;
  auto made = std::make_unique<LoadedExecutable>();
  made->meaning = test::meaning_of(std::string(args.program->code, args.program->code_size));
  ++counts().compiled;
  args.executable = made.release();
}
void get_executable(LoadedExecutableGetExecutable& args) {
  if (has_fault("no_unloaded")) return;
  args.executable = new Executable;
  args.executable->outputs = args.loaded_executable->meaning.program.outputs.size() + (has_fault("more_outputs") ? 1 : 0);
  if (has_fault("fewer_outputs")) --args.executable->outputs;
}
void num_outputs(ExecutableNumOutputs& args) { args.num_outputs = args.executable->outputs; }

[[nodiscard]] DType dtype_of(ElementType type) {
  switch (type) {
    case ElementType::pred: return DType::boolean;
    case ElementType::s32: return DType::i32;
    case ElementType::s64: return DType::i64;
    case ElementType::f16: return DType::f16;
    case ElementType::f32: return DType::f32;
    case ElementType::f64: return DType::f64;
    case ElementType::bf16: return DType::bf16;
  }
  throw std::runtime_error("no element type");
}
[[nodiscard]] ElementType type_of(DType dtype) {
  for (const auto type : {ElementType::pred, ElementType::s32, ElementType::s64, ElementType::f16, ElementType::f32, ElementType::f64,
                          ElementType::bf16})
    if (dtype_of(type) == dtype) return type;
  throw std::runtime_error("no element type");
}

void from_host(ClientBufferFromHostBuffer& args) {
  require(args.semantics == HostBufferSemantics::immutable_only_during_call && args.byte_strides == nullptr && args.memory == nullptr &&
              args.device_layout == nullptr && args.device == &args.client->device && args.data != nullptr,
          "expected dense numbers for the device");
  Dims dims;
  for (std::size_t i = 0; i < args.num_dims; ++i) dims.push_back(args.dims[i]);
  HostTensor tensor(dtype_of(args.type), dims);
  if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), args.data, tensor.bytes.size());
  args.done_with_host_buffer = new_event("host");
  if (!has_fault("no_buffer")) args.buffer = new Buffer(std::move(tensor));
}

/// Larger by one in its first element.
void spoil(HostTensor& tensor) {
  if (tensor.bytes.empty()) return;
  if (tensor.dtype == DType::f32) tensor.view<float>()[0] += 1;
  else tensor.bytes[0] ^= std::byte{1};
}

void execute(LoadedExecutableExecute& args) {
  require(args.options->head.size >= stated_size<ExecuteOptions>() && args.options->launch_id == 0 && args.num_devices == 1 &&
              args.execute_device == nullptr && args.device_complete_events != nullptr,
          "expected one device and room for its event");
  if (has_fault("crash")) std::abort();
  if (has_fault("hang")) pause();
  spec::Request request;
  const test::Meaning& meaning = args.executable->meaning;
  require(args.num_args == meaning.arguments, "expected another number of arguments");
  request.program = meaning.program;
  for (const spec::Input& input : request.program.inputs)
    request.inputs.push_back(input.value ? *input.value : args.argument_lists[0][meaning.argument_of.at(input.name)]->tensor);
  const spec::Answer answer = reference::make_reference_backend()->run(request);
  const auto* numbers = std::get_if<spec::Numbers>(&answer);
  // What the reference leaves open is none of the plug-in's numbers.
  if (numbers == nullptr) throw test::NotOffered("reference: " + std::get<spec::Refusal>(answer).why);
  for (std::size_t i = 0; i < numbers->outputs.size(); ++i) {
    HostTensor output = numbers->outputs[i];
    if (has_fault("wrong_numbers")) spoil(output);
    args.output_lists[0][i] = new Buffer(std::move(output));
  }
  if (has_fault("no_output")) delete std::exchange(args.output_lists[0][0], nullptr);
  args.device_complete_events[0] = new_event("execute");
}

void element_type(BufferElementType& args) {
  args.type = type_of(args.buffer->tensor.dtype);
  if (has_fault("wrong_type")) args.type = args.type == ElementType::f32 ? ElementType::s32 : ElementType::f32;
  if (has_fault("unknown_type")) args.type = static_cast<ElementType>(17);
}
void dimensions(BufferDimensions& args) {
  if (has_fault("wrong_extents")) args.buffer->dims.push_back(1);
  if (has_fault("negative_extent")) args.buffer->dims.assign(1, -3);
  if (has_fault("huge")) args.buffer->dims.assign(2, std::int64_t{1} << 40);
  if (has_fault("many_axes")) args.buffer->dims.assign(9, 1);
  args.dims = args.buffer->dims.data();
  args.num_dims = args.buffer->dims.size();
}

void to_host(BufferToHostBuffer& args) {
  const HostTensor& tensor = args.source->tensor;
  require(args.host_layout != nullptr && args.host_layout->head.size >= stated_size<MemoryLayout>() && args.host_layout->type == 0 &&
              args.host_layout->tiled.head.size >= stated_size<MemoryLayoutTiled>() && args.host_layout->tiled.num_tiles == 0,
          "expected a layout without tiles");
  const MemoryLayoutTiled& layout = args.host_layout->tiled;
  for (std::size_t i = 0; i < layout.minor_to_major_size; ++i)
    require(layout.minor_to_major[i] == static_cast<std::int64_t>(layout.minor_to_major_size - 1 - i), "expected a row-major layout");
  require(args.destination != nullptr && args.destination_size >= tensor.bytes.size(), "expected more room");
  if (has_fault("no_event")) return;
  args.event = new_event("to_host", [destination = args.destination, bytes = tensor.bytes] {
    if (!bytes.empty()) std::memcpy(destination, bytes.data(), bytes.size());
  });
}

void destroy_error(ErrorDestroy* args) { delete args->thing; }
void error_message(ErrorMessage* args) {
  args->message = args->error->message.c_str();
  args->message_size = args->error->message.size();
}
void error_code(ErrorGetCode& args) { args.code = args.error->code; }

/// What stood for a longer time than any case, written where a test reads it.
void destroy_client(ClientDestroy& args) {
  delete args.thing;
  if (const char* file = std::getenv("FAKE_PJRT_COUNTS"))
    std::ofstream(file, std::ios::app) << counts().made << ' ' << counts().destroyed << ' ' << counts().compiled << '\n';
}

template <class Function>
void put(Api& api, const pjrt::Function& place, Function function) {
  api.functions[place.place] = has_fault("missing", place.name) ? nullptr : reinterpret_cast<Api::AnyFunction>(function);
}
template <class Args, void (*body)(Args&)>
void put(Api& api) {
  put(api, Args::function, &entered<Args, body>);
}

[[nodiscard]] Api table() {
  Api api;
  api.head.size = has_fault("short_table") ? sizeof(Api) - 1 : has_fault("no_version") ? 16 : sizeof(Api);
  api.version.head.size = sizeof(Api::Version);
  api.version.major = has_fault("version", "1.0") ? 1 : major_version;
  api.version.minor = has_fault("version", "1.0") ? 0 : has_fault("version", "0.53") ? 53 : newest_minor_version;
  put(api, ErrorDestroy::function, &destroy_error);
  put(api, ErrorMessage::function, &error_message);
  put<ErrorGetCode, error_code>(api);
  put<PluginInitialize, initialize>(api);
  put<EventDestroy, destroy>(api);
  put<EventAwait, await>(api);
  put<ClientCreate, create>(api);
  put<ClientDestroy, destroy_client>(api);
  put<ClientPlatformName, platform_name>(api);
  put<ClientPlatformVersion, platform_version>(api);
  put<ClientAddressableDevices, addressable_devices>(api);
  put<ClientCompile, compile>(api);
  put<ClientBufferFromHostBuffer, from_host>(api);
  put<ExecutableDestroy, destroy>(api);
  put<ExecutableNumOutputs, num_outputs>(api);
  put<LoadedExecutableDestroy, destroy>(api);
  put<LoadedExecutableGetExecutable, get_executable>(api);
  put<LoadedExecutableExecute, execute>(api);
  put<BufferDestroy, destroy>(api);
  put<BufferElementType, element_type>(api);
  put<BufferDimensions, dimensions>(api);
  put<BufferToHostBuffer, to_host>(api);
  return api;
}

}  // namespace
}  // namespace etalon::conformance::pjrt

extern "C" __attribute__((visibility("default"))) const etalon::conformance::pjrt::Api* GetPjrtApi() {
  namespace pjrt = etalon::conformance::pjrt;
  static pjrt::Api api;
  api = pjrt::table();
  return etalon::test::has_fault("no_table") ? nullptr : &api;
}
