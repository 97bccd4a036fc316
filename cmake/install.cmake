# What `cmake --install` puts under the prefix: the binary, the library with its public headers and
# CMake package, the licence. tests/install builds a program against the result.
include(CMakePackageConfigHelpers)

set(VIVACE_CMAKE_FOLDER "${CMAKE_INSTALL_LIBDIR}/cmake/vivace")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/vivaceConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/vivaceConfig.cmake"
  INSTALL_DESTINATION "${VIVACE_CMAKE_FOLDER}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/vivaceConfigVersion.cmake" COMPATIBILITY SameMinorVersion)

install(TARGETS vivace ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS vivace_binary RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/vivace" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_BINARY_DIR}/vivaceConfig.cmake"
              "${PROJECT_BINARY_DIR}/vivaceConfigVersion.cmake"
        DESTINATION "${VIVACE_CMAKE_FOLDER}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
