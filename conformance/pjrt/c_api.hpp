/// \file
/// What Etalon calls of PJRT's C interface: how the structs of its functions lie in memory, and where each function stands in
/// the table that a plug-in gives. Facts of an ABI, written for this use; names are the interface's own in our spelling. With
/// `-DETALON_PJRT_HEADER=…/pjrt_c_api.h` a test compiles each of them against the interface's header. It calls nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace etalon::conformance::pjrt {

/// The one symbol that a plug-in exports: `const Api* GetPjrtApi()`.
inline constexpr const char* entry_point = "GetPjrtApi";

/// Versions of the interface whose headers were compiled against these declarations. Within a major version structs and the table
/// grow at their ends only, and their sizes say how far; so newer minor versions are taken too.
inline constexpr int major_version = 0, oldest_minor_version = 54, newest_minor_version = 114;

struct Error;
struct Event;
struct Client;
struct Device;
struct Executable;
struct LoadedExecutable;
struct Buffer;

/// A function of the table: its place there, and its name for messages.
struct Function {
  std::size_t place = 0;
  std::string_view name;
};

/// Codes of errors that mean something here.
enum class ErrorCode : int { unimplemented = 12 };

/// Element types by the interface's numbers; others there are not ours.
enum class ElementType : int { pred = 1, s32 = 4, s64 = 5, f16 = 10, f32 = 11, f64 = 12, bf16 = 13 };

/// For how long the host's numbers stay as they are.
enum class HostBufferSemantics : int { immutable_only_during_call = 0 };

/// How every struct begins. `size` is the struct's as its writer knows it, without padding at its end.
struct Head {
  std::size_t size = 0;
  void* extension = nullptr;
};

/// Of functions that take one thing: those that destroy it, and those that wait for it.
template <class Thing>
struct OneThing {
  Head head;
  Thing* thing = nullptr;
};

struct ErrorDestroy : OneThing<Error> {
  static constexpr Function function{0, "PJRT_Error_Destroy"};
};
struct ErrorMessage {
  static constexpr Function function{1, "PJRT_Error_Message"};
  Head head;
  const Error* error = nullptr;
  const char* message = nullptr;
  std::size_t message_size = 0;
};
struct ErrorGetCode {
  static constexpr Function function{2, "PJRT_Error_GetCode"};
  Head head;
  const Error* error = nullptr;
  int code = 0;
};
struct PluginInitialize {
  static constexpr Function function{3, "PJRT_Plugin_Initialize"};
  Head head;
};
struct EventDestroy : OneThing<Event> {
  static constexpr Function function{5, "PJRT_Event_Destroy"};
};
struct EventAwait : OneThing<Event> {
  static constexpr Function function{8, "PJRT_Event_Await"};
};

struct ClientCreate {
  static constexpr Function function{10, "PJRT_Client_Create"};
  Head head;
  const void* create_options = nullptr;
  std::size_t num_options = 0;
  std::array<void*, 4> key_value_store{};  ///< callbacks of several processes
  Client* client = nullptr;
  std::array<void*, 2> key_value_try_get{};
};
struct ClientDestroy : OneThing<Client> {
  static constexpr Function function{11, "PJRT_Client_Destroy"};
};
struct ClientPlatformName {
  static constexpr Function function{12, "PJRT_Client_PlatformName"};
  Head head;
  Client* client = nullptr;
  const char* name = nullptr;
  std::size_t name_size = 0;
};
struct ClientPlatformVersion {
  static constexpr Function function{14, "PJRT_Client_PlatformVersion"};
  Head head;
  Client* client = nullptr;
  const char* version = nullptr;
  std::size_t version_size = 0;
};
struct ClientAddressableDevices {
  static constexpr Function function{16, "PJRT_Client_AddressableDevices"};
  Head head;
  Client* client = nullptr;
  Device* const* devices = nullptr;
  std::size_t num_devices = 0;
};

/// Code in the format that is named: `mlir` for text or bytecode.
struct Program {
  Head head;
  char* code = nullptr;
  std::size_t code_size = 0;
  const char* format = nullptr;
  std::size_t format_size = 0;
};
struct ClientCompile {
  static constexpr Function function{20, "PJRT_Client_Compile"};
  Head head;
  Client* client = nullptr;
  const Program* program = nullptr;
  const char* compile_options = nullptr;  ///< CompileOptionsProto on the wire
  std::size_t compile_options_size = 0;
  LoadedExecutable* executable = nullptr;
};

/// Axes from the one whose elements lie beside each other to the outermost; no tiles.
struct MemoryLayoutTiled {
  Head head;
  const std::int64_t* minor_to_major = nullptr;
  std::size_t minor_to_major_size = 0;
  const std::int64_t* tile_dims = nullptr;
  const std::size_t* tile_dim_sizes = nullptr;
  std::size_t num_tiles = 0;
};
struct MemoryLayout {
  Head head;
  MemoryLayoutTiled tiled;  ///< in a union with a smaller struct
  int type = 0;             ///< 0: tiled
};

struct ClientBufferFromHostBuffer {
  static constexpr Function function{22, "PJRT_Client_BufferFromHostBuffer"};
  Head head;
  Client* client = nullptr;
  const void* data = nullptr;
  ElementType type{};
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
  const std::int64_t* byte_strides = nullptr;  ///< none: dense, row-major
  std::size_t num_byte_strides = 0;
  HostBufferSemantics semantics{};
  Device* device = nullptr;
  void* memory = nullptr;
  MemoryLayout* device_layout = nullptr;
  Event* done_with_host_buffer = nullptr;
  Buffer* buffer = nullptr;
};

struct ExecutableDestroy : OneThing<Executable> {
  static constexpr Function function{40, "PJRT_Executable_Destroy"};
};
struct ExecutableNumOutputs {
  static constexpr Function function{44, "PJRT_Executable_NumOutputs"};
  Head head;
  Executable* executable = nullptr;
  std::size_t num_outputs = 0;
};
struct LoadedExecutableDestroy : OneThing<LoadedExecutable> {
  static constexpr Function function{50, "PJRT_LoadedExecutable_Destroy"};
};
struct LoadedExecutableGetExecutable {
  static constexpr Function function{51, "PJRT_LoadedExecutable_GetExecutable"};
  Head head;
  LoadedExecutable* loaded_executable = nullptr;
  Executable* executable = nullptr;
};

/// Nothing is asked for: no callbacks, one device.
struct ExecuteOptions {
  Head head;
  std::array<void*, 2> send_and_receive_callbacks{};
  std::array<std::size_t, 2> num_send_and_receive_ops{};
  int launch_id = 0;
  const std::int64_t* non_donatable_input_indices = nullptr;
  std::size_t num_non_donatable_input_indices = 0;
  void* context = nullptr;
  const char* call_location = nullptr;
  std::size_t num_tasks = 0;
  int* task_ids = nullptr;
  std::int64_t* incarnation_ids = nullptr;
  void* multi_slice_config = nullptr;
  bool use_major_to_minor_data_layout_for_callbacks = false;
  void* output_callbacks = nullptr;
  std::size_t num_output_callbacks = 0;
};
struct LoadedExecutableExecute {
  static constexpr Function function{55, "PJRT_LoadedExecutable_Execute"};
  Head head;
  LoadedExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* argument_lists = nullptr;  ///< per device, per argument
  std::size_t num_devices = 0;
  std::size_t num_args = 0;
  Buffer** const* output_lists = nullptr;          ///< per device, room for each output
  Event** device_complete_events = nullptr;        ///< room for one per device
  Device* execute_device = nullptr;
};

struct BufferDestroy : OneThing<Buffer> {
  static constexpr Function function{58, "PJRT_Buffer_Destroy"};
};
struct BufferElementType {
  static constexpr Function function{59, "PJRT_Buffer_ElementType"};
  Head head;
  Buffer* buffer = nullptr;
  ElementType type{};
};
struct BufferDimensions {
  static constexpr Function function{60, "PJRT_Buffer_Dimensions"};
  Head head;
  Buffer* buffer = nullptr;
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
};
struct BufferToHostBuffer {
  static constexpr Function function{70, "PJRT_Buffer_ToHostBuffer"};
  Head head;
  Buffer* source = nullptr;
  MemoryLayout* host_layout = nullptr;
  void* destination = nullptr;
  std::size_t destination_size = 0;
  Event* event = nullptr;
};

/// The table: its head, its version, and functions `Error* (*)(Struct*)`, of which those that destroy an error or tell its
/// message return nothing.
struct Api {
  using AnyFunction = void (*)();
  static constexpr std::size_t last_place = BufferToHostBuffer::function.place;

  Head head;
  struct Version {
    Head head;
    int major = 0;
    int minor = 0;
  } version;
  std::array<AnyFunction, last_place + 1> functions{};

  /// The size of what stands before the functions.
  static constexpr std::size_t without_functions = sizeof(Head) + sizeof(Version);
};

/// What every plug-in must have.
inline constexpr std::array needed_functions{
    ErrorDestroy::function,       ErrorMessage::function,        ErrorGetCode::function,
    PluginInitialize::function,   EventDestroy::function,        EventAwait::function,
    ClientCreate::function,       ClientDestroy::function,       ClientPlatformName::function,
    ClientPlatformVersion::function, ClientAddressableDevices::function, ClientCompile::function,
    ClientBufferFromHostBuffer::function, ExecutableDestroy::function, ExecutableNumOutputs::function,
    LoadedExecutableDestroy::function, LoadedExecutableGetExecutable::function, LoadedExecutableExecute::function,
    BufferDestroy::function,      BufferElementType::function,   BufferDimensions::function,
    BufferToHostBuffer::function};

/// The size that a struct's head states.
template <class Struct>
[[nodiscard]] constexpr std::size_t stated_size() {
  if constexpr (std::is_same_v<Struct, BufferElementType>) return offsetof(BufferElementType, type) + sizeof(ElementType);
  else if constexpr (std::is_same_v<Struct, ErrorGetCode>) return offsetof(ErrorGetCode, code) + sizeof(int);
  else if constexpr (std::is_same_v<Struct, MemoryLayout>) return offsetof(MemoryLayout, type) + sizeof(int);
  else return sizeof(Struct);
}

}  // namespace etalon::conformance::pjrt
