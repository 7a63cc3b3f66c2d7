# SPDX-License-Identifier: MIT
# What `cmake --install` puts where: headers, both libraries, a relocatable filch.pc, and the
# package for find_package(filch).

include(CMakePackageConfigHelpers)

set(filch_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/filch)

# filch.pc finds its prefix from its own place. That needs a library folder below the prefix.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(filch_pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(filch_pc_libdir "${CMAKE_INSTALL_LIBDIR}")
else()
    file(RELATIVE_PATH filch_pc_up "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
    string(REGEX REPLACE "/$" "" filch_pc_up "${filch_pc_up}")
    set(filch_pc_prefix "\${pcfiledir}/${filch_pc_up}")
    set(filch_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(filch_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
    set(filch_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/filch.pc.in filch.pc @ONLY)

configure_package_config_file(cmake/filch-config.cmake.in filch-config.cmake
    INSTALL_DESTINATION ${filch_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(filch-config-version.cmake COMPATIBILITY SameMinorVersion)

# A project that embeds Filch installs what it needs itself.
if(PROJECT_IS_TOP_LEVEL)
    install(TARGETS filch filch_static EXPORT filch-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY include/filch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
    install(EXPORT filch-targets NAMESPACE filch:: DESTINATION ${filch_package_dir})
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/filch-config.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/filch-config-version.cmake DESTINATION ${filch_package_dir})
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/filch.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
