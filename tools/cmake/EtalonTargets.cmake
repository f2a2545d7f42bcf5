# One function per kind of target, so that flags and include roots stand in one place.

find_program(ETALON_CCACHE ccache)
if(ETALON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ETALON_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ETALON_CCACHE})
endif()

add_library(etalon_flags INTERFACE)
target_compile_options(etalon_flags INTERFACE
  $<BUILD_INTERFACE:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -ffp-contract=off>
  # g++ 12 sees overlaps in std::string's concatenation that are not there (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:$<BUILD_INTERFACE:-Wno-restrict>>
  $<$<BOOL:${ETALON_WERROR}>:$<BUILD_INTERFACE:-Werror>>)
if(ETALON_SANITIZE)
  target_compile_options(etalon_flags INTERFACE
    $<BUILD_INTERFACE:-fsanitize=${ETALON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>)
  target_link_options(etalon_flags INTERFACE $<BUILD_INTERFACE:-fsanitize=${ETALON_SANITIZE}>)
endif()

if(ETALON_FUZZ)
  # Coverage for libFuzzer; its own main is linked into the fuzzers alone.
  target_compile_options(etalon_flags INTERFACE $<BUILD_INTERFACE:-fsanitize=fuzzer-no-link>)
endif()

option(ETALON_ODR "Keep in objects what the target etalon_odr compares: whether every name has one definition (needs g++)" OFF)
if(ETALON_ODR)
  # Beside machine code, which is what is linked.
  target_compile_options(etalon_flags INTERFACE $<BUILD_INTERFACE:-flto=2> $<BUILD_INTERFACE:-ffat-lto-objects>)
  target_link_options(etalon_flags INTERFACE $<BUILD_INTERFACE:-fno-lto>)
endif()

# etalon_batches(VARIABLE SOURCES…): the sources, joined into few where ETALON_BATCHES says so. A change then compiles more, and
# everything compiles faster: for who builds to use or to test, not for who edits.
option(ETALON_BATCHES "Compile many sources as few: a first build is quicker, a change takes longer" OFF)
if(ETALON_BATCHES)
  # What one source keeps to itself, or includes, is nothing that another could mean; a source in a batch is no header.
  target_compile_options(etalon_flags INTERFACE $<BUILD_INTERFACE:-Wno-shadow>
    $<$<CXX_COMPILER_ID:GNU>:$<BUILD_INTERFACE:-Wno-subobject-linkage>>)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
function(etalon_batches variable)
  set(sources ${ARGN})
  if(ETALON_BATCHES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/tools/cmake/batches.py)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/cmake/batches.py
      ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/${variable} ${sources}
      OUTPUT_VARIABLE sources COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# Leaves in a list of files, whose paths begin so, those that the layer is made of.
macro(etalon_part_of_layer files begin)
  if(LAYER_ONLY)
    list(FILTER ${files} INCLUDE REGEX "${begin}(${LAYER_ONLY})/")
  elseif(LAYER_WITHOUT)
    list(FILTER ${files} EXCLUDE REGEX "${begin}(${LAYER_WITHOUT})/")
  endif()
endmacro()

# etalon_layer(NAME DEPENDS targets… ALONE sources… OPTIMISED folder): the library etalon::NAME from every .cpp below this folder;
# those ALONE are in no batch, those in the folder OPTIMISED are optimised also where the rest is compiled quickly. A folder is two
# libraries where one is of the folders ONLY in it, a regular expression, and the other is WITHOUT them.
function(etalon_layer name)
  cmake_parse_arguments(LAYER "" "OPTIMISED;ONLY;WITHOUT" "DEPENDS;PRIVATE;ALONE" ${ARGN})
  get_filename_component(folder_of_layer ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "/adapters/|/conformance/python/")
  etalon_part_of_layer(sources "^${CMAKE_CURRENT_SOURCE_DIR}/")
  list(TRANSFORM LAYER_ALONE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM sources ${LAYER_ALONE})
  set(optimised "")
  if(LAYER_OPTIMISED)
    set(optimised ${sources})
    list(FILTER optimised INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${LAYER_OPTIMISED}/")
    list(REMOVE_ITEM sources ${optimised})
    etalon_batches(optimised ${optimised})
    set_property(SOURCE ${optimised} PROPERTY COMPILE_OPTIONS -O2)
  endif()
  etalon_batches(batches_of_${name} ${sources})
  add_library(etalon_${name} STATIC ${LAYER_ALONE} ${optimised} ${batches_of_${name}})
  add_library(etalon::${name} ALIAS etalon_${name})
  set_target_properties(etalon_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(etalon_${name} PUBLIC cxx_std_20)
  target_include_directories(etalon_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/etalon>)
  target_link_libraries(etalon_${name} PUBLIC ${LAYER_DEPENDS} PRIVATE ${LAYER_PRIVATE} $<BUILD_INTERFACE:etalon_flags>)
  install(TARGETS etalon_${name} EXPORT etalon_${name}_targets)
  install(EXPORT etalon_${name}_targets NAMESPACE etalon:: DESTINATION lib/cmake/etalon FILE etalon-${name}-targets.cmake)
  # One by one: install(DIRECTORY) makes the folders too that have no header.
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.hpp *.h)
  list(FILTER headers EXCLUDE REGEX "^(adapters|python)/")
  etalon_part_of_layer(headers "^")
  foreach(header IN LISTS headers)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${header} DESTINATION include/etalon/${folder_of_layer}/${folder})
  endforeach()
endfunction()

# etalon_layers_of(VARIABLE targets…): the libraries of this tree that the targets link, in any order.
function(etalon_layers_of variable)
  set(found "")
  set(pending ${ARGN})
  while(pending)
    list(POP_FRONT pending target)
    if(NOT target MATCHES "^etalon::" OR NOT TARGET ${target} OR target IN_LIST found)
      continue()
    endif()
    list(APPEND found ${target})
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    list(APPEND pending ${links})
  endwhile()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# etalon_paths_of_tree(TARGET): where sources name themselves, as steps of traced programs do, it is by their path in this tree, so that
# the tree's own place gets into no object. Quoted headers are found from where the compiler runs, with and without a cache.
function(etalon_paths_of_tree target)
  file(RELATIVE_PATH root ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  string(REGEX REPLACE "/$" "" root "${root}")
  # g++ leaves out a last folder that the next list begins with.
  target_compile_options(${target} PRIVATE -iquote${root} -iquote. -fmacro-prefix-map=${root}/=)
endfunction()

# etalon_test(FOLDER DEPENDS targets…): one Catch2 program from every .cpp of tests/FOLDER.
function(etalon_test folder)
  cmake_parse_arguments(TEST "" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/must_not_compile/|/consumer/")
  if(NOT sources)
    return()
  endif()
  etalon_batches(batches_of_${folder} ${sources})
  add_executable(test_${folder} ${batches_of_${folder}})
  target_link_libraries(test_${folder} PRIVATE ${TEST_DEPENDS} etalon_catch_main etalon_flags)
  target_compile_definitions(test_${folder} PRIVATE ETALON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(ETALON_SANITIZE)
    # Sanitized assertions take longer to optimise than to run; what they call is optimised. Of an inline function the linker
    # keeps the copy that it meets first: so the layers, whole, before the objects of the test.
    target_compile_options(test_${folder} PRIVATE -O0)
    etalon_layers_of(layers ${TEST_DEPENDS})
    list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_FILE:\\1>")
    target_link_options(test_${folder} PRIVATE LINKER:--whole-archive ${layers} LINKER:--no-whole-archive)
  endif()
  # What was once wrong has a test of its own name in ctest.
  set(others "")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} found REGEX "\\[sound\\]" LIMIT_COUNT 1)
    if(found AND NOT others)
      set(others "~[sound]~[.]") # An exclusion alone admits hidden tests.
      catch_discover_tests(test_${folder} TEST_SPEC "[sound]~[.]" TEST_PREFIX "sound." DISCOVERY_MODE PRE_TEST)
    endif()
  endforeach()
  add_test(NAME ${folder} COMMAND test_${folder} ${others})
endfunction()
