# The library: find_package(kernelcast) gives kernelcast::kernelcast, the facade of include/kernelcast/forecast.h. Static libraries of the
# folders behind it, the headers that the facade needs and no others, and a package file.
include(CMakePackageConfigHelpers)

# What forecast links, directly or not.
set(kernelcast_installed core io profile memory device machine ptx frontend execute model count forecast)
list(APPEND kernelcast_installed options)
list(TRANSFORM kernelcast_installed PREPEND kernelcast_)
install(TARGETS ${kernelcast_installed} EXPORT kernelcast ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
install(EXPORT kernelcast NAMESPACE kernelcast:: FILE kernelcastTargets.cmake DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/kernelcast" COMPONENT devel)

foreach(header forecast source launch estimate units error setting)
  install(FILES "${PROJECT_SOURCE_DIR}/include/kernelcast/${header}.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/kernelcast" COMPONENT devel)
endforeach()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/kernelcastConfig.cmake.in" "${PROJECT_BINARY_DIR}/kernelcastConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/kernelcast" PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kernelcastConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kernelcastConfig.cmake" "${PROJECT_BINARY_DIR}/kernelcastConfigVersion.cmake"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/kernelcast" COMPONENT devel)
