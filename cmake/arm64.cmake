# Cross build for arm64 Linux, whose tests run under qemu. The compiler and its C and C++ libraries
# are Debian's cross packages; the other libraries are arm64 packages that tools/fetch_arm64 unpacks
# into build/arm64-sysroot, so that the machine's own package set stays as it is.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(VIVACE_ARM64_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/arm64-sysroot"
                       ABSOLUTE)
list(PREPEND CMAKE_FIND_ROOT_PATH "${VIVACE_ARM64_SYSROOT}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# The libraries in the sysroot need one another, and its header-only packages have no target each.
include_directories(SYSTEM "${VIVACE_ARM64_SYSROOT}/usr/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,-rpath-link,${VIVACE_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu")

# `max` is qemu's most capable processor: every NEON and SVE target of the kernels can run.
# The library path is named outright: where arm64 packages are installed too, the loader would find
# their C library through the machine's ld.so.cache, a second one beside the cross packages'.
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-aarch64;-cpu;max;-L;/usr/aarch64-linux-gnu;-E
    LD_LIBRARY_PATH=/usr/aarch64-linux-gnu/lib:${VIVACE_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu)
