# SPDX-License-Identifier: MIT
# Contestants in other runtimes: each a program build/<preset>/bench/grid/<name>, if this machine has
# what it takes (scripts/packages-bench.txt; `make deps-bench`), else a line that says what is missing.
# Everything else that their tools make lies in folders beside: `filch bench` takes each executable
# file there for a contestant.

set(grid_work ${CMAKE_CURRENT_BINARY_DIR}/peers)
separate_arguments(grid_flags UNIX_COMMAND
    "${CMAKE_C_FLAGS_RELWITHDEBINFO} -Wall -Wextra -Wpedantic -Wconversion -Wshadow")
if(FILCH_WERROR)
    list(APPEND grid_flags -Werror)
endif()

function(grid_left_out name why)
    message(NOTICE "filch: ${why}: bench grid goes without its contestant ${name}")
endfunction()

# grid_peer(<name> SOURCES <file>... BUILD <as for add_custom_command>): commands that make a program.
function(grid_peer name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;BUILD")
    list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name} ${arg_BUILD}
        DEPENDS ${arg_SOURCES} VERBATIM COMMENT "Building contestant ${name}")
    add_custom_target(grid_${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name})
endfunction()

# ---- OpenMP: the same sources by gcc and by clang, whichever of them builds the rest ----
file(GLOB grid_shared CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.h work/*.h)
function(grid_openmp name cc cxx)
    find_program(GRID_${name}_CC ${cc})
    find_program(GRID_${name}_CXX ${cxx})
    set(folder ${grid_work}/${name})
    file(MAKE_DIRECTORY ${folder})
    if(GRID_${name}_CC AND GRID_${name}_CXX AND NOT GRID_${name}_WORKS)
        file(WRITE ${folder}/try.cpp "#include <omp.h>\n#include <parallel/algorithm>\n"
            "int main() { return omp_get_max_threads() < 1; }\n")
        execute_process(COMMAND ${GRID_${name}_CXX} -fopenmp try.cpp -o try
            WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(failed EQUAL 0)
            set(GRID_${name}_WORKS TRUE CACHE INTERNAL "")
        endif()
    endif()
    if(NOT GRID_${name}_WORKS)
        grid_left_out(${name} "there is no ${cxx} with OpenMP and libstdc++")
        return()
    endif()
    set(flags ${grid_flags} -fopenmp -I${PROJECT_SOURCE_DIR})
    set(source ${CMAKE_CURRENT_SOURCE_DIR})
    grid_peer(${name}
        SOURCES openmp/openmp.c openmp/openmp.h openmp/sort.cpp serve.c work/input.c ${grid_shared}
        BUILD
            COMMAND ${GRID_${name}_CXX} -std=c++17 ${flags} -c ${source}/openmp/sort.cpp
                -o ${folder}/sort.o
            COMMAND ${GRID_${name}_CC} -std=c11 ${flags} ${source}/openmp/openmp.c ${source}/serve.c
                ${source}/work/input.c ${folder}/sort.o -lstdc++ -lm
                -o ${CMAKE_CURRENT_BINARY_DIR}/${name})
endfunction()
grid_openmp(gomp gcc g++)
grid_openmp(omp clang clang++)

# ---- oneTBB ----
include(CheckLanguage)
check_language(CXX) # believes a preset that names a compiler
find_program(GRID_CXX "${CMAKE_CXX_COMPILER}")
find_package(TBB 2021 CONFIG QUIET)
if(GRID_CXX AND TBB_FOUND)
    enable_language(CXX)
    add_executable(grid_tbb tbb/tbb.cpp)
    set_target_properties(grid_tbb PROPERTIES OUTPUT_NAME tbb
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
    filch_compile(grid_tbb)
    target_link_libraries(grid_tbb PRIVATE filch_grid TBB::tbb)
else()
    grid_left_out(tbb "libtbb-dev (oneTBB 2021) or a C++ compiler is missing")
endif()

# ---- GLib ----
find_package(PkgConfig)
if(PkgConfig_FOUND)
    pkg_check_modules(filch_glib IMPORTED_TARGET glib-2.0)
endif()
if(filch_glib_FOUND)
    add_executable(grid_glib glib/glib.c)
    set_target_properties(grid_glib PROPERTIES OUTPUT_NAME glib)
    filch_compile(grid_glib)
    target_link_libraries(grid_glib PRIVATE filch_grid PkgConfig::filch_glib)
else()
    grid_left_out(glib "libglib2.0-dev is missing")
endif()

# ---- Rayon: Debian's crates, never the network ----
find_program(GRID_CARGO cargo)
find_program(GRID_RUSTC rustc)
file(GLOB grid_crates /usr/share/cargo/registry/rayon-1.*)
if(GRID_CARGO AND GRID_RUSTC AND grid_crates)
    string(REGEX REPLACE ".*/rayon-" "" grid_rayon_version "${grid_crates}")
    execute_process(COMMAND ${GRID_RUSTC} --version
        OUTPUT_VARIABLE grid_rustc_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    string(REGEX REPLACE "^(rustc [0-9.]+).*" "\\1" grid_rustc_version "${grid_rustc_version}")
    set(grid_cargo ${CMAKE_COMMAND} -E env --unset=RUSTFLAGS --unset=CARGO_TARGET_DIR
        CARGO_HOME=${grid_work}/rayon/home RUSTC=${GRID_RUSTC}
        "RAYON_VERSION=${grid_rayon_version} by ${grid_rustc_version}" ${GRID_CARGO})
    configure_file(rayon/Cargo.toml.in ${grid_work}/rayon/Cargo.toml @ONLY)
    file(CONFIGURE OUTPUT ${grid_work}/rayon/.cargo/config.toml @ONLY CONTENT
"[source.crates-io]
replace-with = 'debian'
[source.debian]
directory = '/usr/share/cargo/registry'
")
    if(NOT "${GRID_rayon_WORKS}" STREQUAL "${GRID_CARGO}")
        file(REMOVE ${grid_work}/rayon/Cargo.lock) # another cargo may not read it
        execute_process(COMMAND ${grid_cargo} generate-lockfile --offline
            WORKING_DIRECTORY ${grid_work}/rayon RESULT_VARIABLE grid_failed
            OUTPUT_QUIET ERROR_QUIET)
        if(grid_failed EQUAL 0)
            set(GRID_rayon_WORKS ${GRID_CARGO} CACHE INTERNAL "")
        endif()
    endif()
else()
    unset(GRID_rayon_WORKS CACHE)
endif()
if(GRID_rayon_WORKS)
    grid_peer(rayon
        SOURCES rayon/main.rs rayon/work.rs rayon/uts.rs rayon/Cargo.toml.in
        BUILD
            COMMAND ${grid_cargo} build --quiet --release --offline
            COMMAND ${CMAKE_COMMAND} -E copy target/release/rayon ${CMAKE_CURRENT_BINARY_DIR}/rayon
            WORKING_DIRECTORY ${grid_work}/rayon)
else()
    grid_left_out(rayon "cargo (1.60) or librust-rayon-dev is missing")
endif()

# ---- Java 17 or later: a script that starts it, classes, and a library with the CPU clock ----
find_program(GRID_JAVAC javac)
find_program(GRID_JAVA java)
if(GRID_JAVAC AND GRID_JAVA)
    file(REAL_PATH ${GRID_JAVAC} grid_jdk)
    cmake_path(GET grid_jdk PARENT_PATH grid_jdk)
    cmake_path(GET grid_jdk PARENT_PATH grid_jdk)
    execute_process(COMMAND ${GRID_JAVAC} --release 17 -version
        RESULT_VARIABLE grid_failed OUTPUT_QUIET ERROR_QUIET)
endif()
if(GRID_JAVAC AND GRID_JAVA AND grid_failed EQUAL 0 AND EXISTS ${grid_jdk}/include/jni.h)
    set(grid_java ${grid_work}/java)
    set(grid_lint -Xlint:all)
    if(FILCH_WERROR)
        list(APPEND grid_lint -Werror)
    endif()
    configure_file(java/java.in ${grid_java}/java @ONLY)
    file(GLOB grid_java_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} java/*.java)
    set(grid_java_files ${grid_java_sources})
    list(TRANSFORM grid_java_files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    add_library(grid_java_clock MODULE java/clock.c)
    filch_compile(grid_java_clock)
    target_include_directories(grid_java_clock SYSTEM PRIVATE
        ${grid_jdk}/include ${grid_jdk}/include/linux)
    set_target_properties(grid_java_clock PROPERTIES
        OUTPUT_NAME clock LIBRARY_OUTPUT_DIRECTORY ${grid_java})
    grid_peer(java
        SOURCES ${grid_java_sources} java/java.in
        BUILD
            COMMAND ${GRID_JAVAC} --release 17 ${grid_lint} -d ${grid_java} ${grid_java_files}
            COMMAND ${CMAKE_COMMAND} -E copy ${grid_java}/java ${CMAKE_CURRENT_BINARY_DIR}/java)
    add_dependencies(grid_java grid_java_clock)
else()
    grid_left_out(java "there is no JDK 17")
endif()

# ---- Go ----
find_program(GRID_GO go)
if(GRID_GO)
    file(GLOB grid_go_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} go/*.go)
    set(grid_go_files ${grid_go_sources})
    list(TRANSFORM grid_go_files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    grid_peer(go
        SOURCES ${grid_go_sources}
        BUILD
            COMMAND ${CMAKE_COMMAND} -E env GO111MODULE=off GOENV=off GOFLAGS= CGO_ENABLED=0
                GOCACHE=${grid_work}/go/cache GOPATH=${grid_work}/go/path
                ${GRID_GO} build -o ${CMAKE_CURRENT_BINARY_DIR}/go ${grid_go_files})
else()
    grid_left_out(go "there is no go")
endif()
