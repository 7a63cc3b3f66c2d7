# SPDX-License-Identifier: MIT
# How code is compiled and linked: warnings, sanitizers, visibility, the export list.

set(filch_map ${CMAKE_CURRENT_LIST_DIR}/filch.map)

# Sanitizers and coverage, for compiling and linking.
function(filch_instrument target)
    if(FILCH_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${FILCH_SANITIZE}
            -fno-sanitize-recover=all -fno-omit-frame-pointer)
        target_link_options(${target} PRIVATE -fsanitize=${FILCH_SANITIZE})
    endif()
    if(FILCH_COVERAGE)
        target_compile_options(${target} PRIVATE --coverage -fprofile-update=atomic)
        target_link_options(${target} PRIVATE --coverage)
    endif()
endfunction()

# What every target of this project gets: C11 without extensions, warnings, sanitizers.
function(filch_compile target)
    set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
    if(FILCH_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    filch_instrument(${target})
    target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:FILCH_DEBUG=1>)
endfunction()

function(filch_public_headers target)
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# A target made of the library's own sources.
function(filch_compile_library target)
    filch_compile(${target})
    filch_public_headers(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
endfunction()

function(filch_link_shared target)
    filch_public_headers(${target})
    filch_instrument(${target})
    target_link_libraries(${target} PRIVATE Threads::Threads)
    if(NOT APPLE)
        # nodelete: workers of a live pool go on after dlclose.
        target_link_options(${target} PRIVATE -Wl,-z,nodelete -Wl,--version-script=${filch_map})
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${filch_map})
        if(NOT FILCH_SANITIZE)
            # Sanitizer run times are resolved in the program, so only plain builds can ask this.
            target_link_options(${target} PRIVATE -Wl,-z,defs)
        endif()
    endif()
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()
