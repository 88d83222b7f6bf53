# Targets of one shape: kernelcast_library(name SOURCES... LINK ...), kernelcast_test_folder(kind module).

add_library(kernelcast_options INTERFACE)
target_compile_features(kernelcast_options INTERFACE cxx_std_20)
target_compile_options(kernelcast_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Werror
  # gcc 12 is wrong about std::string concatenation (its bug 105651), inlined std::array subscripts and fills of std::string at -O2
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>
  # std::stable_sort of libstdc++ 12 uses std::get_temporary_buffer, which libstdc++ 12 deprecates
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  # The Python module is a shared object made of the same static libraries as the program. One flag for all, that precompiled headers fit.
  $<$<BOOL:${KERNELCAST_PYTHON}>:-fPIC>
  # ccache knows precompiled headers of clang by their content, not by when they were made
  $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
# Several sources a compilation: what headers cost, most of all LLVM's, is paid once for all of them. What differs from a
# build without: names of anonymous namespaces must differ within a folder, and a local name may hide another file's.
if(KERNELCAST_UNITY)
  target_compile_options(kernelcast_options INTERFACE -Wno-shadow)
endif()
if(KERNELCAST_SANITIZE)
  target_compile_options(kernelcast_options INTERFACE -fsanitize=${KERNELCAST_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(kernelcast_options INTERFACE -fsanitize=${KERNELCAST_SANITIZE})
endif()

# CMake writes the list of precompiled headers with the time of an older file, and a build would keep what was read for another list.
function(kernelcast_reread_headers target)
  set_property(SOURCE "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.cxx" APPEND PROPERTY
    OBJECT_DEPENDS "${CMAKE_CURRENT_LIST_FILE}" "${PROJECT_SOURCE_DIR}/cmake/KernelcastTargets.cmake")
endfunction()

# The standard library's headers, read once for all folders that are compiled alike; kernelcast_headers_cold for those of -Og,
# kernelcast_headers_hot for those of -O3: with headers read at -O2 half of what -O3 gains is lost.
# Of a full build also the headers of the folders themselves: a change to one of these compiles everything again in any case.
set(kernelcast_own_headers)
if(KERNELCAST_UNITY)
  foreach(header address advice bind cpu_code cpu_model device error estimate execute expr frontend launch model offload ops profile program sm units
          workload)
    list(APPEND kernelcast_own_headers "${PROJECT_SOURCE_DIR}/include/kernelcast/${header}.h")
  endforeach()
  list(APPEND kernelcast_own_headers <chrono> <filesystem> <random>)
endif()
set(kernelcast_cold_options $<$<CONFIG:Release>:-Og>)
set(kernelcast_hot_options $<$<CONFIG:Release>:-O3>)
foreach(kind "" _cold _hot)
  add_library(kernelcast_headers${kind} OBJECT "${CMAKE_CURRENT_LIST_DIR}/headers.cpp")
  target_link_libraries(kernelcast_headers${kind} PRIVATE kernelcast_options)
  target_include_directories(kernelcast_headers${kind} PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_precompile_headers(kernelcast_headers${kind} PRIVATE <algorithm> <array> <bit> <charconv> <cmath> <cstdint> <cstring>
    <fstream> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <thread>
    <unordered_map> <utility> <variant> <vector> ${kernelcast_own_headers})
  kernelcast_reread_headers(kernelcast_headers${kind})
endforeach()
target_compile_options(kernelcast_headers_cold PRIVATE ${kernelcast_cold_options})
target_compile_options(kernelcast_headers_hot PRIVATE ${kernelcast_hot_options})

# One static library a folder of src/, sources by glob. COLD: the folder reads, formats and hands on, its own code takes no time that
# anybody would notice; -Og takes four tenths less to compile than -O2. HOT: a search over launches spends its time here; -O3 makes
# a forecast by the model kernelcast a tenth quicker than -O2 and takes a tenth more to compile. OWN_HEADERS: the folder says itself
# which headers are read once. ROOMS: sources stand in folders of the folder, too.
function(kernelcast_library name)
  cmake_parse_arguments(arg "COLD;HOT;OWN_HEADERS;ROOMS" "" "LINK;PRIVATE_LINK" ${ARGN})
  set(depth GLOB)
  if(arg_ROOMS)
    set(depth GLOB_RECURSE)
  endif()
  file(${depth} sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(kernelcast_${name} STATIC ${sources})
  target_include_directories(kernelcast_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>" PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(kernelcast_${name} PUBLIC ${arg_LINK} PRIVATE kernelcast_options ${arg_PRIVATE_LINK})
  set_target_properties(kernelcast_${name} PROPERTIES UNITY_BUILD ${KERNELCAST_UNITY} UNITY_BUILD_BATCH_SIZE 32)
  set(kind "")
  if(arg_COLD)
    set(kind _cold)
    target_compile_options(kernelcast_${name} PRIVATE ${kernelcast_cold_options})
  elseif(arg_HOT)
    set(kind _hot)
    target_compile_options(kernelcast_${name} PRIVATE ${kernelcast_hot_options})
  endif()
  if(NOT arg_OWN_HEADERS)
    target_precompile_headers(kernelcast_${name} REUSE_FROM kernelcast_headers${kind})
  endif()
endfunction()

# Adds to kernelcast_NAME a function of src/NAME/identity.h that returns a digest of the sources in FOLDERS of src/, of HEADERS of
# include/kernelcast/ and of TEXT: what is kept between runs holds for these alone.
function(kernelcast_identity name function)
  cmake_parse_arguments(arg "" "TEXT" "FOLDERS;HEADERS" ${ARGN})
  set(inputs)
  foreach(folder ${arg_FOLDERS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*")
    list(APPEND inputs ${found})
  endforeach()
  foreach(header ${arg_HEADERS})
    list(APPEND inputs "${PROJECT_SOURCE_DIR}/include/kernelcast/${header}")
  endforeach()
  string(REPLACE ";" "," folders "${arg_FOLDERS}")
  string(REPLACE ";" "," headers "${arg_HEADERS}")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/identity.cpp")
  add_custom_command(OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${PROJECT_SOURCE_DIR} -DFOLDER=${name} -DFUNCTION=${function}
            -DFOLDERS=${folders} -DHEADERS=${headers} -DTEXT=${arg_TEXT} -P "${PROJECT_SOURCE_DIR}/cmake/Identity.cmake"
    DEPENDS ${inputs} "${PROJECT_SOURCE_DIR}/cmake/Identity.cmake" VERBATIM)
  target_sources(kernelcast_${name} PRIVATE "${output}")
endfunction()

# Tests compute little themselves. With clang -O0 takes six tenths less time to compile than -O1; gcc takes as long for -O0 as for
# -Og, and gcc 12 then sees overflows in moves of std::string and variables without a value that are none.
set(kernelcast_test_options $<$<CONFIG:Release>:$<IF:$<CXX_COMPILER_ID:Clang>,-O0,-Og>>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-maybe-uninitialized>)

# Properties begin from one seed here, so that ctest says the same of the same code; scripts/nightly.sh draws new ones.
set(kernelcast_test_seed "RC_PARAMS=seed=20261126")

# Every test/<kind>/<module>/*.cpp into one program linked to kernelcast_<module>; the kind is the ctest label. Each case is a test
# of its own; with WHOLE the program is one test, whose cases share what they have prepared.
function(kernelcast_test_folder kind module)
  cmake_parse_arguments(arg "WHOLE" "" "" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${kind}/${module}/*.cpp")
  add_executable(test_${kind}_${module} ${sources})
  target_include_directories(test_${kind}_${module} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/test")
  target_compile_definitions(test_${kind}_${module} PRIVATE KERNELCAST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(test_${kind}_${module} PRIVATE ${kernelcast_test_options})
  target_link_libraries(test_${kind}_${module} PRIVATE kernelcast_${module} kernelcast_options
    rapidcheck rapidcheck_gtest GTest::gmock GTest::gtest GTest::gtest_main)
  target_precompile_headers(test_${kind}_${module} REUSE_FROM kernelcast_test_headers)
  set_target_properties(test_${kind}_${module} PROPERTIES UNITY_BUILD ${KERNELCAST_UNITY} UNITY_BUILD_BATCH_SIZE 40)
  if(arg_WHOLE)
    add_test(NAME ${kind}/${module}/all COMMAND test_${kind}_${module})
    set_tests_properties(${kind}/${module}/all PROPERTIES LABELS ${kind} TIMEOUT 600 COST 60  # the longest first
      ENVIRONMENT "${kernelcast_test_seed}")
  else()
    # NO_PRETTY_VALUES: parameters without a printer are bytes, padding and all.
    gtest_discover_tests(test_${kind}_${module} TEST_PREFIX "${kind}/${module}/" DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
      DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${kind} TIMEOUT 300 ENVIRONMENT "${kernelcast_test_seed}")
  endif()
endfunction()
