/// \file
/// Our declarations of PJRT's C interface against its own header, field by field. Compiled where the build names the header:
/// `-DETALON_PJRT_HEADER=…/xla/pjrt/c/pjrt_c_api.h`. It has nothing to run.
#include <pjrt_c_api.h>

#include "conformance/pjrt/c_api.hpp"

namespace etalon::conformance::pjrt {
namespace {

static_assert(PJRT_API_MAJOR == major_version);
static_assert(PJRT_API_MINOR >= oldest_minor_version);

#define ETALON_FIELD(ours, our_field, theirs, their_field)                                              \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) &&                           \
                    sizeof(ours::our_field) == sizeof(theirs::their_field),                             \
                #theirs "." #their_field)
// A struct that grew at its end since an older header is larger here.
#define ETALON_STRUCT(ours, theirs)                                                                    \
  ETALON_FIELD(ours, head.size, theirs, struct_size);                                                  \
  static_assert(offsetof(ours, head.extension) == offsetof(theirs, extension_start), #theirs);         \
  static_assert(stated_size<ours>() >= theirs##_STRUCT_SIZE, #theirs);                                 \
  static_assert(PJRT_API_MINOR != newest_minor_version || stated_size<ours>() == theirs##_STRUCT_SIZE, #theirs)
#define ETALON_FUNCTION(ours, theirs)                                                                  \
  ETALON_STRUCT(ours, theirs##_Args);                                                                  \
  static_assert(offsetof(Api, functions) + ours::function.place * sizeof(Api::AnyFunction) == offsetof(PJRT_Api, theirs), #theirs); \
  static_assert(ours::function.name == #theirs)
#define ETALON_ONE_THING(ours, theirs, their_field) \
  ETALON_FUNCTION(ours, theirs);                    \
  ETALON_FIELD(ours, thing, theirs##_Args, their_field)

ETALON_ONE_THING(ErrorDestroy, PJRT_Error_Destroy, error);
ETALON_FUNCTION(ErrorMessage, PJRT_Error_Message);
ETALON_FIELD(ErrorMessage, error, PJRT_Error_Message_Args, error);
ETALON_FIELD(ErrorMessage, message, PJRT_Error_Message_Args, message);
ETALON_FIELD(ErrorMessage, message_size, PJRT_Error_Message_Args, message_size);
ETALON_FUNCTION(ErrorGetCode, PJRT_Error_GetCode);
ETALON_FIELD(ErrorGetCode, error, PJRT_Error_GetCode_Args, error);
ETALON_FIELD(ErrorGetCode, code, PJRT_Error_GetCode_Args, code);
static_assert(static_cast<int>(ErrorCode::unimplemented) == PJRT_Error_Code_UNIMPLEMENTED);
ETALON_FUNCTION(PluginInitialize, PJRT_Plugin_Initialize);
ETALON_ONE_THING(EventDestroy, PJRT_Event_Destroy, event);
ETALON_ONE_THING(EventAwait, PJRT_Event_Await, event);

ETALON_FUNCTION(ClientCreate, PJRT_Client_Create);
ETALON_FIELD(ClientCreate, create_options, PJRT_Client_Create_Args, create_options);
ETALON_FIELD(ClientCreate, num_options, PJRT_Client_Create_Args, num_options);
ETALON_FIELD(ClientCreate, client, PJRT_Client_Create_Args, client);
ETALON_ONE_THING(ClientDestroy, PJRT_Client_Destroy, client);
ETALON_FUNCTION(ClientPlatformName, PJRT_Client_PlatformName);
ETALON_FIELD(ClientPlatformName, client, PJRT_Client_PlatformName_Args, client);
ETALON_FIELD(ClientPlatformName, name, PJRT_Client_PlatformName_Args, platform_name);
ETALON_FIELD(ClientPlatformName, name_size, PJRT_Client_PlatformName_Args, platform_name_size);
ETALON_FUNCTION(ClientPlatformVersion, PJRT_Client_PlatformVersion);
ETALON_FIELD(ClientPlatformVersion, client, PJRT_Client_PlatformVersion_Args, client);
ETALON_FIELD(ClientPlatformVersion, version, PJRT_Client_PlatformVersion_Args, platform_version);
ETALON_FIELD(ClientPlatformVersion, version_size, PJRT_Client_PlatformVersion_Args, platform_version_size);
ETALON_FUNCTION(ClientAddressableDevices, PJRT_Client_AddressableDevices);
ETALON_FIELD(ClientAddressableDevices, client, PJRT_Client_AddressableDevices_Args, client);
ETALON_FIELD(ClientAddressableDevices, devices, PJRT_Client_AddressableDevices_Args, addressable_devices);
ETALON_FIELD(ClientAddressableDevices, num_devices, PJRT_Client_AddressableDevices_Args, num_addressable_devices);

ETALON_STRUCT(Program, PJRT_Program);
ETALON_FIELD(Program, code, PJRT_Program, code);
ETALON_FIELD(Program, code_size, PJRT_Program, code_size);
ETALON_FIELD(Program, format, PJRT_Program, format);
ETALON_FIELD(Program, format_size, PJRT_Program, format_size);
ETALON_FUNCTION(ClientCompile, PJRT_Client_Compile);
ETALON_FIELD(ClientCompile, client, PJRT_Client_Compile_Args, client);
ETALON_FIELD(ClientCompile, program, PJRT_Client_Compile_Args, program);
ETALON_FIELD(ClientCompile, compile_options, PJRT_Client_Compile_Args, compile_options);
ETALON_FIELD(ClientCompile, compile_options_size, PJRT_Client_Compile_Args, compile_options_size);
ETALON_FIELD(ClientCompile, executable, PJRT_Client_Compile_Args, executable);

ETALON_STRUCT(MemoryLayoutTiled, PJRT_Buffer_MemoryLayout_Tiled);
ETALON_FIELD(MemoryLayoutTiled, minor_to_major, PJRT_Buffer_MemoryLayout_Tiled, minor_to_major);
ETALON_FIELD(MemoryLayoutTiled, minor_to_major_size, PJRT_Buffer_MemoryLayout_Tiled, minor_to_major_size);
ETALON_FIELD(MemoryLayoutTiled, tile_dims, PJRT_Buffer_MemoryLayout_Tiled, tile_dims);
ETALON_FIELD(MemoryLayoutTiled, tile_dim_sizes, PJRT_Buffer_MemoryLayout_Tiled, tile_dim_sizes);
ETALON_FIELD(MemoryLayoutTiled, num_tiles, PJRT_Buffer_MemoryLayout_Tiled, num_tiles);
ETALON_STRUCT(MemoryLayout, PJRT_Buffer_MemoryLayout);
ETALON_FIELD(MemoryLayout, tiled, PJRT_Buffer_MemoryLayout, tiled);
ETALON_FIELD(MemoryLayout, type, PJRT_Buffer_MemoryLayout, type);
static_assert(sizeof(PJRT_Buffer_MemoryLayout_Strides) <= sizeof(MemoryLayoutTiled) && PJRT_Buffer_MemoryLayout_Type_Tiled == 0);

ETALON_FUNCTION(ClientBufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer);
ETALON_FIELD(ClientBufferFromHostBuffer, client, PJRT_Client_BufferFromHostBuffer_Args, client);
ETALON_FIELD(ClientBufferFromHostBuffer, data, PJRT_Client_BufferFromHostBuffer_Args, data);
ETALON_FIELD(ClientBufferFromHostBuffer, type, PJRT_Client_BufferFromHostBuffer_Args, type);
ETALON_FIELD(ClientBufferFromHostBuffer, dims, PJRT_Client_BufferFromHostBuffer_Args, dims);
ETALON_FIELD(ClientBufferFromHostBuffer, num_dims, PJRT_Client_BufferFromHostBuffer_Args, num_dims);
ETALON_FIELD(ClientBufferFromHostBuffer, byte_strides, PJRT_Client_BufferFromHostBuffer_Args, byte_strides);
ETALON_FIELD(ClientBufferFromHostBuffer, num_byte_strides, PJRT_Client_BufferFromHostBuffer_Args, num_byte_strides);
ETALON_FIELD(ClientBufferFromHostBuffer, semantics, PJRT_Client_BufferFromHostBuffer_Args, host_buffer_semantics);
ETALON_FIELD(ClientBufferFromHostBuffer, device, PJRT_Client_BufferFromHostBuffer_Args, device);
ETALON_FIELD(ClientBufferFromHostBuffer, memory, PJRT_Client_BufferFromHostBuffer_Args, memory);
ETALON_FIELD(ClientBufferFromHostBuffer, device_layout, PJRT_Client_BufferFromHostBuffer_Args, device_layout);
ETALON_FIELD(ClientBufferFromHostBuffer, done_with_host_buffer, PJRT_Client_BufferFromHostBuffer_Args, done_with_host_buffer);
ETALON_FIELD(ClientBufferFromHostBuffer, buffer, PJRT_Client_BufferFromHostBuffer_Args, buffer);
static_assert(static_cast<int>(HostBufferSemantics::immutable_only_during_call) == PJRT_HostBufferSemantics_kImmutableOnlyDuringCall);
static_assert(static_cast<int>(ElementType::pred) == PJRT_Buffer_Type_PRED);
static_assert(static_cast<int>(ElementType::s32) == PJRT_Buffer_Type_S32);
static_assert(static_cast<int>(ElementType::s64) == PJRT_Buffer_Type_S64);
static_assert(static_cast<int>(ElementType::f16) == PJRT_Buffer_Type_F16);
static_assert(static_cast<int>(ElementType::f32) == PJRT_Buffer_Type_F32);
static_assert(static_cast<int>(ElementType::f64) == PJRT_Buffer_Type_F64);
static_assert(static_cast<int>(ElementType::bf16) == PJRT_Buffer_Type_BF16);

ETALON_ONE_THING(ExecutableDestroy, PJRT_Executable_Destroy, executable);
ETALON_FUNCTION(ExecutableNumOutputs, PJRT_Executable_NumOutputs);
ETALON_FIELD(ExecutableNumOutputs, executable, PJRT_Executable_NumOutputs_Args, executable);
ETALON_FIELD(ExecutableNumOutputs, num_outputs, PJRT_Executable_NumOutputs_Args, num_outputs);
ETALON_ONE_THING(LoadedExecutableDestroy, PJRT_LoadedExecutable_Destroy, executable);
ETALON_FUNCTION(LoadedExecutableGetExecutable, PJRT_LoadedExecutable_GetExecutable);
ETALON_FIELD(LoadedExecutableGetExecutable, loaded_executable, PJRT_LoadedExecutable_GetExecutable_Args, loaded_executable);
ETALON_FIELD(LoadedExecutableGetExecutable, executable, PJRT_LoadedExecutable_GetExecutable_Args, executable);

// The last fields are younger than the oldest header; the sizes above cover them.
ETALON_STRUCT(ExecuteOptions, PJRT_ExecuteOptions);
ETALON_FIELD(ExecuteOptions, launch_id, PJRT_ExecuteOptions, launch_id);
ETALON_FIELD(ExecuteOptions, non_donatable_input_indices, PJRT_ExecuteOptions, non_donatable_input_indices);
ETALON_FIELD(ExecuteOptions, num_non_donatable_input_indices, PJRT_ExecuteOptions, num_non_donatable_input_indices);
ETALON_FUNCTION(LoadedExecutableExecute, PJRT_LoadedExecutable_Execute);
ETALON_FIELD(LoadedExecutableExecute, executable, PJRT_LoadedExecutable_Execute_Args, executable);
ETALON_FIELD(LoadedExecutableExecute, options, PJRT_LoadedExecutable_Execute_Args, options);
ETALON_FIELD(LoadedExecutableExecute, argument_lists, PJRT_LoadedExecutable_Execute_Args, argument_lists);
ETALON_FIELD(LoadedExecutableExecute, num_devices, PJRT_LoadedExecutable_Execute_Args, num_devices);
ETALON_FIELD(LoadedExecutableExecute, num_args, PJRT_LoadedExecutable_Execute_Args, num_args);
ETALON_FIELD(LoadedExecutableExecute, output_lists, PJRT_LoadedExecutable_Execute_Args, output_lists);
ETALON_FIELD(LoadedExecutableExecute, device_complete_events, PJRT_LoadedExecutable_Execute_Args, device_complete_events);
ETALON_FIELD(LoadedExecutableExecute, execute_device, PJRT_LoadedExecutable_Execute_Args, execute_device);

ETALON_ONE_THING(BufferDestroy, PJRT_Buffer_Destroy, buffer);
ETALON_FUNCTION(BufferElementType, PJRT_Buffer_ElementType);
ETALON_FIELD(BufferElementType, buffer, PJRT_Buffer_ElementType_Args, buffer);
ETALON_FIELD(BufferElementType, type, PJRT_Buffer_ElementType_Args, type);
ETALON_FUNCTION(BufferDimensions, PJRT_Buffer_Dimensions);
ETALON_FIELD(BufferDimensions, buffer, PJRT_Buffer_Dimensions_Args, buffer);
ETALON_FIELD(BufferDimensions, dims, PJRT_Buffer_Dimensions_Args, dims);
ETALON_FIELD(BufferDimensions, num_dims, PJRT_Buffer_Dimensions_Args, num_dims);
ETALON_FUNCTION(BufferToHostBuffer, PJRT_Buffer_ToHostBuffer);
ETALON_FIELD(BufferToHostBuffer, source, PJRT_Buffer_ToHostBuffer_Args, src);
ETALON_FIELD(BufferToHostBuffer, host_layout, PJRT_Buffer_ToHostBuffer_Args, host_layout);
ETALON_FIELD(BufferToHostBuffer, destination, PJRT_Buffer_ToHostBuffer_Args, dst);
ETALON_FIELD(BufferToHostBuffer, destination_size, PJRT_Buffer_ToHostBuffer_Args, dst_size);
ETALON_FIELD(BufferToHostBuffer, event, PJRT_Buffer_ToHostBuffer_Args, event);

static_assert(offsetof(Api, head.size) == offsetof(PJRT_Api, struct_size));
static_assert(offsetof(Api, version.major) == offsetof(PJRT_Api, pjrt_api_version.major_version));
static_assert(offsetof(Api, version.minor) == offsetof(PJRT_Api, pjrt_api_version.minor_version));
static_assert(Api::without_functions == offsetof(Api, functions));
static_assert(sizeof(Api) <= PJRT_Api_STRUCT_SIZE);

}  // namespace
}  // namespace etalon::conformance::pjrt
