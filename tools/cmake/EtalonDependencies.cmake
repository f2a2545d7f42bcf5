# Finds what the layers need and says in one line what is missing and which Debian package has it.

macro(etalon_require package debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "etalon: ${package} is missing; on Debian: apt-get install ${debian}")
  endif()
endmacro()

etalon_require(Boost libboost1.81-dev)
etalon_require(fmt libfmt-dev)
etalon_require(nlohmann_json nlohmann-json3-dev)
etalon_require(CLI11 libcli11-dev)
etalon_require(ZLIB zlib1g-dev)
etalon_require(OpenSSL libssl-dev)
find_package(Threads REQUIRED)

find_library(ETALON_MPFR mpfr)
find_library(ETALON_GMP gmp)
if(NOT ETALON_MPFR OR NOT ETALON_GMP)
  message(FATAL_ERROR "etalon: MPFR or GMP is missing; on Debian: apt-get install libmpfr-dev libgmp-dev")
endif()

# Debian's own configuration of libzip asks for its programs, too.
find_library(ETALON_ZIP zip)
find_path(ETALON_ZIP_INCLUDE zip.h)
if(NOT ETALON_ZIP OR NOT ETALON_ZIP_INCLUDE)
  message(FATAL_ERROR "etalon: libzip is missing; on Debian: apt-get install libzip-dev")
endif()

find_library(ETALON_RAPIDCHECK rapidcheck)
find_path(ETALON_RAPIDCHECK_INCLUDE rapidcheck.h)
if(NOT ETALON_RAPIDCHECK OR NOT ETALON_RAPIDCHECK_INCLUDE)
  message(FATAL_ERROR "etalon: RapidCheck is missing; on Debian: apt-get install librapidcheck-dev")
endif()
