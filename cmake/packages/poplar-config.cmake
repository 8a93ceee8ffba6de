# find_package(poplar): the library `poplar` and the codelet compiler
# `popc_bin`, as imported targets.
get_filename_component(_aspen_sdk ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
if(NOT TARGET poplar)
  add_library(poplar SHARED IMPORTED)
  set_target_properties(poplar PROPERTIES
    IMPORTED_LOCATION ${_aspen_sdk}/lib/libpoplar.so
    INTERFACE_INCLUDE_DIRECTORIES ${_aspen_sdk}/include)
  add_executable(popc_bin IMPORTED)
  set_target_properties(popc_bin PROPERTIES
    IMPORTED_LOCATION ${_aspen_sdk}/bin/popc)
endif()
unset(_aspen_sdk)
