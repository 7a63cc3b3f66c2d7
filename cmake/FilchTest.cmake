# SPDX-License-Identifier: MIT
# filch_test(NAME <name> SOURCES <file>...
#            [LIB filch_hooks|filch_delays|filch::static|filch::shared|filch_condvar]   default filch_hooks
#            [LABELS fast|stress|system|api|example ...]                   default fast
#            [TIMEOUT <seconds>]   default 120 for fast, 300 for the rest; a net for hangs only
#            [ARGS <argument>...] [ENVIRONMENT <NAME=value>...] [SERIAL])
# Makes one cmocka program and one ctest of it, linked with tests/support. It may include public headers, private ones
# ("queue/deque.h") and "support/test.h". Exit 77 means skipped. SERIAL: no other test meanwhile.
# The sanitizer builds multiply the timeout.

if(CMAKE_CROSSCOMPILING)
    # There is no cmocka for these processors; tests/cross has what the tests use of it.
    add_library(filch_cross_cmocka STATIC ${PROJECT_SOURCE_DIR}/tests/cross/cmocka.c)
    filch_compile(filch_cross_cmocka)
    target_include_directories(filch_cross_cmocka PUBLIC ${PROJECT_SOURCE_DIR}/tests/cross)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64")
        # atomic bytes, which a test uses; the library has none
        target_link_libraries(filch_cross_cmocka PUBLIC atomic)
    endif()
    add_library(PkgConfig::cmocka ALIAS filch_cross_cmocka)
    set(cmocka_FOUND TRUE)
else()
    find_package(PkgConfig)
endif()
if(PkgConfig_FOUND)
    pkg_check_modules(cmocka IMPORTED_TARGET cmocka)
endif()
if(NOT cmocka_FOUND)
    message(NOTICE "filch: libcmocka-dev or pkg-config is missing: the cmocka tests are left out")
endif()

# What tests share (tests/support). It knows nothing of the library but its public headers.
if(cmocka_FOUND)
    file(GLOB filch_test_support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
    if(filch_test_support_sources)
        add_library(filch_test_support STATIC ${filch_test_support_sources})
        filch_compile(filch_test_support)
        target_compile_definitions(filch_test_support PRIVATE _GNU_SOURCE
            $<$<BOOL:${FILCH_COVERAGE}>:FILCH_TEST_COVERAGE>)
        target_include_directories(filch_test_support PRIVATE
            ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/tests)
        target_link_libraries(filch_test_support PUBLIC PkgConfig::cmocka Threads::Threads)
    endif()
endif()

function(filch_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "SERIAL" "NAME;LIB;TIMEOUT" "SOURCES;LABELS;ARGS;ENVIRONMENT")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_SOURCES)
        message(FATAL_ERROR "filch_test(${ARGV}): needs NAME and SOURCES; stray: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT cmocka_FOUND)
        return()
    endif()
    if(NOT arg_LIB)
        set(arg_LIB filch_hooks)
    endif()
    if(arg_LIB STREQUAL filch_delays AND NOT FILCH_TEST_DELAYS)
        return()
    endif()
    if(NOT arg_LABELS)
        set(arg_LABELS fast)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 300)
        if("fast" IN_LIST arg_LABELS)
            set(arg_TIMEOUT 120)
        endif()
    endif()
    if(FILCH_SANITIZE)
        math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 4")
    endif()

    add_executable(${arg_NAME} ${arg_SOURCES})
    filch_compile(${arg_NAME})
    target_compile_definitions(${arg_NAME} PRIVATE _GNU_SOURCE)
    target_include_directories(${arg_NAME} PRIVATE
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/tests/support
        ${PROJECT_SOURCE_DIR})
    if(TARGET filch_test_support)
        target_link_libraries(${arg_NAME} PRIVATE filch_test_support)
    endif()
    target_link_libraries(${arg_NAME} PRIVATE ${arg_LIB} PkgConfig::cmocka Threads::Threads ${CMAKE_DL_LIBS} m)
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} ${arg_ARGS})
    set_tests_properties(${arg_NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77
        LABELS "${arg_LABELS}" ENVIRONMENT "${arg_ENVIRONMENT}")
    if("stress" IN_LIST arg_LABELS)
        set_tests_properties(${arg_NAME} PROPERTIES PROCESSORS 2)
    endif()
    if(arg_SERIAL)
        set_tests_properties(${arg_NAME} PROPERTIES RUN_SERIAL ON)
    endif()
endfunction()
