# find_package(poplibs): each library of PopLibs as an imported target of its
# name.
include(CMakeFindDependencyMacro)
find_dependency(poplar)
get_filename_component(_aspen_lib ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
foreach(_aspen_name poputil popops poplin popnn poprand popsparse popfloat
    gcl)
  if(NOT TARGET ${_aspen_name} AND EXISTS ${_aspen_lib}/lib${_aspen_name}.so)
    add_library(${_aspen_name} SHARED IMPORTED)
    set_target_properties(${_aspen_name} PROPERTIES
      IMPORTED_LOCATION ${_aspen_lib}/lib${_aspen_name}.so
      INTERFACE_LINK_LIBRARIES poplar)
  endif()
endforeach()
unset(_aspen_name)
unset(_aspen_lib)
