# Writes OUTPUT, a C++ source with the parts of the page as bytes:
#   cmake -DFOLDER=src/report/page -DCHART=chart.min.js -DVALIDATION=validation -DOUTPUT=... -P embed.cmake
file(GLOB scripts "${FOLDER}/[0-9]*.js")
list(SORT scripts)
set(names frame_html page_html page_css page_js tune_js offload_js validate_js chart_js programs_md rows_md)
set(frame_html "${FOLDER}/frame.html")
set(page_html "${FOLDER}/page.html")
set(page_css "${FOLDER}/page.css")
set(page_js ${scripts})
foreach(command tune offload validate)
  set(${command}_js "${FOLDER}/10_parts.js" "${FOLDER}/plots/${command}.js" "${FOLDER}/plots/frame.js")
endforeach()
set(chart_js "${CHART}")
set(programs_md "${VALIDATION}/programs.md")
set(rows_md "${VALIDATION}/README.md")
set(text "// Made by src/report/page/embed.cmake.
#include \"report/page_parts.h\"

#include \"kernelcast/error.h\"

namespace kernelcast::report {
namespace {

std::string_view text_of(const unsigned char* bytes, std::size_t n) {
  return {reinterpret_cast<const char*>(bytes), n};
}
\n")
set(cases "")
foreach(name ${names})
  set(bytes "")
  foreach(file ${${name}})
    file(READ "${file}" content HEX)
    string(APPEND bytes "${content}")
  endforeach()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "constexpr unsigned char ${name}[] = {${bytes}};\n")
  string(REPLACE "_" "." plain "${name}")
  string(APPEND cases "  if (name == \"${plain}\") return text_of(${name}, sizeof ${name});\n")
endforeach()
string(APPEND text "
}  // namespace

std::string_view page_part(std::string_view name) {
${cases}  throw InternalError(\"no part of the page has this name\");
}

}  // namespace kernelcast::report\n")
file(WRITE "${OUTPUT}" "${text}")
