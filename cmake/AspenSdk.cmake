# What build/sdk holds besides the libraries and packages themselves.
install(FILES cmake/enable.sh DESTINATION .)
install(FILES LICENSE DESTINATION .)
# An interpreter that has the packages' dependencies, first on PATH.
install(CODE "
  file(MAKE_DIRECTORY \${CMAKE_INSTALL_PREFIX}/bin)
  file(CREATE_LINK ${Python3_EXECUTABLE} \${CMAKE_INSTALL_PREFIX}/bin/python3
    SYMBOLIC)")
