# Writes the C++ file that holds the systems' data files as text:
#   cmake -DOUTPUT=<file.cpp> -DFOLDER=<folder> -DNAMES=<a,b,...> -P <this>
string(REPLACE "," ";" names "${NAMES}")
set(rows "")
foreach(name IN LISTS names)
  file(READ ${FOLDER}/${name}.json text)
  string(APPEND rows "    {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from the files of poplar/systems.
#include \"device/BuiltInSystems.hpp\"

namespace poplar::internal {
namespace {

constexpr BuiltInSystem files[] = {
${rows}};

} // namespace

std::span<const BuiltInSystem> builtInSystems() {
  return files;
}

} // namespace poplar::internal
")
