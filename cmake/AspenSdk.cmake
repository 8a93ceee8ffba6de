# What build/sdk holds besides the libraries and packages themselves.
install(FILES cmake/enable.sh DESTINATION .)
install(FILES LICENSE DESTINATION .)
# An interpreter that has the packages' dependencies, first on PATH.
install(CODE "
  file(MAKE_DIRECTORY \${CMAKE_INSTALL_PREFIX}/bin)
  file(CREATE_LINK ${Python3_EXECUTABLE} \${CMAKE_INSTALL_PREFIX}/bin/python3
    SYMBOLIC)")
# What find_package() reads. The version is that of the interface.
include(CMakePackageConfigHelpers)
foreach(package poplar poplibs)
  set(version ${CMAKE_BINARY_DIR}/${package}-config-version.cmake)
  write_basic_package_version_file(${version} VERSION 3.3.0
    COMPATIBILITY SameMajorVersion)
  install(FILES cmake/packages/${package}-config.cmake ${version}
    DESTINATION lib/cmake/${package})
endforeach()
