# Compiler settings shared by every target.
set(ASPEN_SANITIZE "" CACHE STRING
  "Sanitizers to build with, as -fsanitize takes them")
option(ASPEN_PYTHON "Build the Python packages" ON)
option(ASPEN_PRECOMPILE "Parse the standard library's headers once per target"
  ON)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2") # asserts stay on

# Debian's interpreter: another python3 on PATH has no torch.
set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "")

find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the checkout, so that checkouts share what they compile.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wconversion -Wno-sign-conversion)
if(ASPEN_SANITIZE)
  # -O1: half the time to compile, and the tests are short. Checks of every
  # pointer take another quarter of it: a null one crashes without them, and
  # what lies outside an object is the address sanitizer's.
  add_compile_options(-fsanitize=${ASPEN_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -fno-sanitize=null,object-size,vptr,alignment
    -g1 -O1)
  add_link_options(-fsanitize=${ASPEN_SANITIZE})
endif()

find_package(fmt REQUIRED)
# Users who only run programs need no GoogleTest; make test installs it.
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(STATUS "GoogleTest is not installed: leaving the tests out")
endif()
if(ASPEN_PYTHON)
  # Found first, so that pybind11 takes this interpreter and not one on PATH.
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
  set(PYTHON_EXECUTABLE ${Python3_EXECUTABLE})
  find_package(pybind11 REQUIRED)
endif()
