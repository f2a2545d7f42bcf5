# What Debian wants of files and nobody else: run by CPack on what was installed, before packages are made of it.
file(GLOB packed ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/*.1 ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog)
foreach(file IN LISTS packed)
  execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB licences ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/etalon/LICENSE)
foreach(file IN LISTS licences)
  file(CREATE_LINK ../../common-licenses/Apache-2.0 ${file} SYMBOLIC)
endforeach()
file(GLOB archives ${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib/*.a ${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib/*/*.a)
foreach(file IN LISTS archives)
  # What is there for optimising while linking fits one version of the compiler, and takes minutes of who links.
  execute_process(COMMAND strip --strip-debug --enable-deterministic-archives --remove-section=.comment --remove-section=.note
    --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_* --strip-symbol=__gnu_lto_v1 ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
