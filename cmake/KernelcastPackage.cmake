# cpack in the build folder makes kernelcast_VERSION_ARCH.deb, which depends on packages of the distribution alone (dpkg-shlibdeps finds them), and
# a tarball of the sources: cpack -G DEB; cpack -G TGZ --config CPackSourceConfig.cmake. The Python package is pip's.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kernelcast)
set(CPACK_PACKAGE_VENDOR kernelcast)
set(CPACK_PACKAGE_CONTACT "the authors of kernelcast <kernelcast@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "forecast for GPU kernels: from source to time, with no GPU")
set(CPACK_PACKAGE_DESCRIPTION "Reads a kernel in CUDA, OpenCL, HIP, C, LLVM IR or PTX and says how long it takes on a named GPU and what limits it.
No GPU, vendor toolkit or run of the program is needed.")
set(CPACK_COMPONENTS_ALL Unspecified)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Headers that sources include, which no shared library asks for: Clang's own and those of C and C++.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libclang-common-19-dev, libstdc++-12-dev | libstdc++-dev, libc6-dev")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libclc-19")
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME "kernelcast-${PROJECT_VERSION}")
set(CPACK_SOURCE_IGNORE_FILES "/\\\\.git/" "/\\\\.git$" "^${PROJECT_SOURCE_DIR}/build[^/]*/" "/\\\\.cache/" "/__pycache__/")
include(CPack)
