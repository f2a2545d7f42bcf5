# Debian packages, one per component of the installation: tools/package makes them. What they need of libraries dpkg-shlibdeps finds.
foreach(package etalon libetalon-dev python3-etalon etalon-doc etalon-mpi)
  set(documents ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES tools/debian/copyright tools/debian/changelog DESTINATION ${documents} COMPONENT ${package})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME etalon)
# CPack's own word, in place of which each package has a description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_PACKAGE_CONTACT "Etalon maintainers <maintainers@etalon.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/tools/debian/finish.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL etalon libetalon-dev etalon-doc)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# etalon_package(NAME SECTION SUMMARY DESCRIPTION): what every package says of itself.
function(etalon_package name section summary description)
  string(TOUPPER ${name} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
endfunction()

etalon_package(etalon science "standard that tensor backends are checked against"
"Every operation, loss and optimizer step is one readable equation. From that
text come shape checking, an exact reference, derivatives, error bounds and
a conformance suite that holds any backend to the equations.
This package has the command, contracts, schemas and adapters.")
set(CPACK_DEBIAN_ETALON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ETALON_PACKAGE_SUGGESTS "etalon-doc, etalon-mpi, python3-etalon")

etalon_package(libetalon-dev libdevel "standard of tensor backends - libraries and headers"
"The layers of Etalon as static libraries, for find_package(etalon): what
operations mean, the exact reference, the conformance suite and, with the
recommended packages, the compiled CPU backend and training.")
set(depends "libboost1.81-dev, libfmt-dev, libgmp-dev, libmpfr-dev, librapidcheck-dev, libssl-dev, nlohmann-json3-dev, zlib1g-dev")
set(CPACK_DEBIAN_LIBETALON-DEV_PACKAGE_DEPENDS "${depends}")
# What only the compiled backend, CUDA C++ and training ask for.
set(CPACK_DEBIAN_LIBETALON-DEV_PACKAGE_RECOMMENDS "libboost-context1.81-dev, libsleef-dev, libzip-dev, llvm-19-dev")
set(CPACK_DEBIAN_LIBETALON-DEV_PACKAGE_SUGGESTS "etalon-doc")

etalon_package(etalon-doc doc "standard of tensor backends - documentation"
"Pages on the notation, the conformance suite, contracts, the protocol of
adapters, golden packs, training and the compiler, and why we believe them.")
set(CPACK_DEBIAN_ETALON-DOC_PACKAGE_ARCHITECTURE all)

# Who trains in one process needs no MPI.
if(TARGET etalon_ranks_mpi)
  list(APPEND CPACK_COMPONENTS_ALL etalon-mpi)
  etalon_package(etalon-mpi science "standard of tensor backends - training across processes"
"Lets several processes train one model together by Open MPI, each with
devices of its own, to the bits of one process.")
  set(CPACK_DEBIAN_ETALON-MPI_PACKAGE_DEPENDS "etalon (= ${PROJECT_VERSION}), openmpi-bin")
  set(CPACK_DEBIAN_ETALON-MPI_PACKAGE_SHLIBDEPS ON)
endif()

# A module is for one version of Python: the system's.
if(TARGET etalon_python AND ETALON_PYTHON_EXECUTABLE STREQUAL /usr/bin/python3)
  list(APPEND CPACK_COMPONENTS_ALL python3-etalon)
  etalon_package(python3-etalon python "standard of tensor backends - Python module"
"Holds functions of NumPy or PyTorch to the definitions, computes what an
operation means and what its answers may be, and has a plug-in for pytest.")
  execute_process(COMMAND ${ETALON_PYTHON_EXECUTABLE} -c
      "import sys; a, b = sys.version_info[:2]; print(f'python3 (>= {a}.{b}), python3 (<< {a}.{b + 1})')"
    OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(CPACK_DEBIAN_PYTHON3-ETALON_PACKAGE_DEPENDS "${version}, python3-numpy")
  set(CPACK_DEBIAN_PYTHON3-ETALON_PACKAGE_SHLIBDEPS ON)
  # Byte code is made where it is installed, and removed with it.
  set(scripts ${PROJECT_SOURCE_DIR}/tools/debian/python3-etalon)
  set(CPACK_DEBIAN_PYTHON3-ETALON_PACKAGE_CONTROL_EXTRA "${scripts}/postinst;${scripts}/prerm")
  set(CPACK_DEBIAN_PYTHON3-ETALON_PACKAGE_SUGGESTS "etalon-doc, python3-pytest")
else()
  message(STATUS "etalon: no package python3-etalon, which wants `import etalon` for /usr/bin/python3")
endif()
include(CPack)
