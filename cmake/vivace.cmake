# The warnings, sanitizers and include roots that every target of ours shares, and the helpers that
# declare one folder of src/ and its tests.

add_library(vivace_options INTERFACE)
target_compile_options(vivace_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wnull-dereference -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside its own standard library when sanitizers or -O3 rearrange code.
  target_compile_options(vivace_options INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized
                         -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of libstdc++ 12 uses a function that it deprecates itself; a text in a
  # VIVACE_CHECK is meant as one.
  target_compile_options(vivace_options INTERFACE -Wno-deprecated-declarations
                         -Wno-string-conversion)
endif()
if(VIVACE_WERROR)
  target_compile_options(vivace_options INTERFACE -Werror)
endif()
if(VIVACE_DCHECK)
  target_compile_definitions(vivace_options INTERFACE VIVACE_ENABLE_DCHECK=1)
endif()
target_include_directories(vivace_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(vivace_options INTERFACE Threads::Threads tl::expected)
if(VIVACE_SANITIZE)
  add_compile_options(-fsanitize=${VIVACE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  string(REPLACE "fuzzer-no-link," "" VIVACE_SANITIZE_LINK "${VIVACE_SANITIZE}")
  add_link_options(-fsanitize=${VIVACE_SANITIZE_LINK})
endif()

# vivace_module(NAME SOURCES a.cc ... LINK lib ...): one folder of src/, twice: vivace_NAME, a static
# library with its dependencies, is what tests and folders below link; its objects also go into the
# one library that is installed.
function(vivace_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(vivace_${name}_objects OBJECT ${arg_SOURCES})
  target_link_libraries(vivace_${name}_objects PRIVATE vivace_options ${arg_LINK})
  add_library(vivace_${name} STATIC $<TARGET_OBJECTS:vivace_${name}_objects>)
  target_link_libraries(vivace_${name} PUBLIC ${arg_LINK} Threads::Threads tl::expected)
  set_property(GLOBAL APPEND PROPERTY VIVACE_OBJECTS vivace_${name}_objects)
endfunction()

# vivace_test(NAME SOURCES a_test.cc ... LINK lib ... [LABELS slow]): one test binary; every
# TEST() in it is a ctest entry with the labels NAME, its folder and those given.
function(vivace_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE VIVACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE vivace_options ${arg_LINK} GTest::gmock GTest::gtest
                                        GTest::gtest_main)
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  set(labels ${name} ${folder})
  if(arg_LABELS)
    list(APPEND labels ${arg_LABELS})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 600)
  # Several labels do not survive gtest_discover_tests (CMake 3.25 splits the list), so ctest sets
  # them itself once it knows the tests.
  set(labels_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
  file(WRITE "${labels_file}"
       "if(${name}_TESTS)\n"
       "  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${labels}\")\n"
       "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels_file}")
endfunction()
