# SPDX-License-Identifier: MIT
# Toolchain of the presets aarch64 and riscv64: Debian's cross compilers, and qemu-user to run what
# they make. The preset names the processor in FILCH_CROSS.

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FILCH_CROSS)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${FILCH_CROSS})
set(CMAKE_C_COMPILER ${FILCH_CROSS}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER NOTFOUND) # the tests of filch.hpp are left out
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${FILCH_CROSS} -L /usr/${FILCH_CROSS}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH /usr/${FILCH_CROSS}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
