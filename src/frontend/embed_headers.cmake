# Writes OUTPUT, a C++ source with every file of FOLDER as a string: cmake -DFOLDER=... -DOUTPUT=... -P embed_headers.cmake
# Names in in_prelude.txt and host_only.txt become headers without contents, those in thrust.txt headers that read kernelcast/thrust.h.
file(GLOB_RECURSE files RELATIVE "${FOLDER}" "${FOLDER}/*.h" "${FOLDER}/*.cuh" "${FOLDER}/*.hpp" "${FOLDER}/cassert" "${FOLDER}/cuda/*")
list(SORT files)
set(text "// Made from src/frontend/headers by embed_headers.cmake.
#include \"frontend/source/compile_headers.h\"

namespace kernelcast::frontend {
namespace {
using namespace std::string_view_literals;  // their length is known: no compiler counts half a million letters
constexpr VirtualHeader headers[] = {\n")
foreach(file ${files})
  file(READ "${FOLDER}/${file}" content)
  string(APPEND text "{\"${file}\", R\"__kc__(${content})__kc__\"sv},\n")
endforeach()
foreach(list in_prelude host_only)
  file(STRINGS "${FOLDER}/${list}.txt" names REGEX "^[^#]")
  foreach(name ${names})
    string(APPEND text "{\"${name}\", \"\"},\n")
  endforeach()
endforeach()
file(STRINGS "${FOLDER}/thrust.txt" names REGEX "^[^#]")
foreach(name ${names})
  string(APPEND text "{\"${name}\", \"#include \\\"kernelcast/thrust.h\\\"\\n\"},\n")
endforeach()
string(APPEND text "};
}  // namespace

std::span<const VirtualHeader> virtual_headers() { return headers; }

}  // namespace kernelcast::frontend\n")
file(WRITE "${OUTPUT}" "${text}")
