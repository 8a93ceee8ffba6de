# The libraries and packages that Aspen is made of, one call each. `sdk` builds
# what users get, without the tests; `cmake --install` lays it out.
add_custom_target(sdk)

# Every GoogleTest program. Not part of `all`: make test compiles them once, with
# sanitizers.
add_custom_target(unit_tests)

# aspen_precompile(<target> [<headers>...])
# Parses the headers that most files include once, and <headers>: that is half
# the time a file takes to compile. A file that forgets to include one of them
# compiles all the same; the dev preset, which has no such headers, finds it.
function(aspen_precompile target)
  if(ASPEN_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath>
      <cstdint> <cstring> <functional> <map> <memory> <numeric> <optional> <set>
      <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
      ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -fpch-preprocess) # for ccache
    endif()
  endif()
endfunction()

# aspen_component(<name> [STATIC] [DEPENDS <targets>...] [INTERNAL <dirs>...]
#                 [EMBEDS <static components>...])
# A library from src/*.cpp (all folders) with public headers in include/ and,
# where given, headers for Aspen's own libraries in INTERNAL; each file of
# tests/*.cpp becomes part of one GoogleTest program, <name>_tests. EMBEDS puts
# the whole of a static component into this library, so that users and the
# libraries above find it once, here.
function(aspen_component name)
  cmake_parse_arguments(arg "STATIC" "" "DEPENDS;INTERNAL;EMBEDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/*.cpp)
  if(NOT sources) # headers only
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE include ${arg_INTERNAL})
    target_link_libraries(${name} INTERFACE ${arg_DEPENDS} ${arg_EMBEDS})
    return()
  endif()
  if(arg_STATIC)
    add_library(${name} STATIC ${sources})
  else()
    add_library(${name} SHARED ${sources})
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN")
    add_dependencies(sdk ${name})
    install(TARGETS ${name} LIBRARY DESTINATION lib)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/include)
      install(DIRECTORY include/ DESTINATION include)
    endif()
  endif()
  target_include_directories(${name} PUBLIC include ${arg_INTERNAL})
  target_include_directories(${name} PRIVATE src)
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS})
  target_link_libraries(${name} PRIVATE ${arg_EMBEDS})
  aspen_precompile(${name} <fmt/format.h>)
  foreach(part ${arg_EMBEDS})
    set_property(TARGET ${name} PROPERTY LINK_LIBRARY_OVERRIDE_${part}
      WHOLE_ARCHIVE)
    target_include_directories(${name} PUBLIC
      $<TARGET_PROPERTY:${part},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  aspen_tests(${name})
endfunction()

function(aspen_tests name)
  file(GLOB tests CONFIGURE_DEPENDS tests/*.cpp)
  if(tests AND GTest_FOUND)
    add_executable(${name}_tests EXCLUDE_FROM_ALL ${tests})
    add_dependencies(unit_tests ${name}_tests)
    target_include_directories(${name}_tests PRIVATE src)
    # They are compiled more often than they run long: a third less time. With
    # the thread sanitizer, frames that large would overflow the stack where
    # programs are nested deeply.
    if(NOT ASPEN_SANITIZE STREQUAL thread)
      target_compile_options(${name}_tests PRIVATE -O0)
    endif()
    aspen_precompile(${name}_tests <gtest/gtest.h>)
    target_link_libraries(${name}_tests PRIVATE ${name} GTest::gtest_main)
    add_test(NAME ${name}_tests COMMAND ${name}_tests)
    # Emulated IPUs of its own: tests may run at the same time.
    set(devices ${CMAKE_CURRENT_BINARY_DIR}/devices)
    file(MAKE_DIRECTORY ${devices})
    set_tests_properties(${name}_tests PROPERTIES LABELS unit
      ENVIRONMENT ASPEN_REGISTRY=${devices})
  endif()
endfunction()

# aspen_header_tests(<component> <standard>)
# User programs compile the public headers with an older standard: all of them
# in two orders, so that each has to bring what it needs (a file for each took a
# tenth of the tests' time to compile), and the calls in tests/headers/ that are
# easily ambiguous.
function(aspen_header_tests component standard)
  if(NOT TARGET ${component}_tests)
    return()
  endif()
  file(GLOB headers CONFIGURE_DEPENDS
    RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/include include/*/*.hpp
    include/*/experimental/*.hpp include/*/alias/*.hpp include/*/op/*.hpp
    include/*/op/*/*.hpp include/*/patterns/*.hpp include/*/popx/*.hpp
    include/*/popx/*/*.hpp include/*/vendored/*.hpp)
  file(GLOB uses CONFIGURE_DEPENDS tests/headers/*.cpp)
  foreach(order Forwards Backwards)
    list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>" OUTPUT_VARIABLE lines)
    list(JOIN lines "\n" text)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${order}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "${text}\n")
    list(APPEND uses ${source})
    list(REVERSE headers)
  endforeach()
  set(target ${component}_header_tests)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${uses})
  set_target_properties(${target} PROPERTIES CXX_STANDARD ${standard})
  target_include_directories(${target} PRIVATE include)
  target_compile_options(${target} PRIVATE -pedantic -Werror)
  add_dependencies(${component}_tests ${target})
endfunction()

# aspen_conformance_module(<target> SOURCES <files>... DEPENDS <targets>...)
# The conformance tests' way into libraries: a Python module that is built with
# the tests and not installed.
function(aspen_conformance_module target)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ASPEN_PYTHON OR NOT GTest_FOUND)
    return()
  endif()
  pybind11_add_module(${target} NO_EXTRAS ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_DEPENDS})
  target_compile_options(${target} PRIVATE -O0) # nothing to optimise
  aspen_precompile(${target} <pybind11/pybind11.h> <pybind11/stl.h>)
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/conformance)
endfunction()

# aspen_python_package(<package> MODULE <target> SOURCES <globs>...
#                      [DEPENDS <targets>...])
# The package in python/<package>/ with an extension module inside it.
# <build>/python holds a copy to import: the module, and links to the Python
# files, so that an edit needs no build.
function(aspen_python_package package)
  cmake_parse_arguments(arg "" "MODULE" "SOURCES;DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${arg_SOURCES})
  # NO_EXTRAS: link-time optimisation of thin bindings only costs build time.
  pybind11_add_module(${arg_MODULE} NO_EXTRAS ${sources})
  target_link_libraries(${arg_MODULE} PRIVATE ${arg_DEPENDS})
  aspen_precompile(${arg_MODULE} <pybind11/pybind11.h> <pybind11/functional.h>
    <pybind11/stl.h>)
  set(folder ${CMAKE_BINARY_DIR}/python/${package})
  set_target_properties(${arg_MODULE} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${folder}
    INSTALL_RPATH "$ORIGIN/../../lib")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS
    RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/python/${package}
    python/${package}/*.py python/${package}/*.pyi)
  foreach(file ${files})
    get_filename_component(parent ${folder}/${file} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/python/${package}/${file}
      ${folder}/${file} SYMBOLIC)
  endforeach()
  add_dependencies(sdk ${arg_MODULE})
  install(TARGETS ${arg_MODULE} LIBRARY DESTINATION python/${package})
  install(DIRECTORY python/${package} DESTINATION python
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi")
endfunction()
