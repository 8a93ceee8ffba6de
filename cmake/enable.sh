# Makes this SDK the one that compilers, linkers and python3 find. Use:
#   source enable.sh
if [ -n "${POPLAR_SDK_ENABLED:-}" ]; then
  echo "ERROR: A Poplar SDK has already been enabled."
  echo "Path of enabled Poplar SDK: $POPLAR_SDK_ENABLED"
  echo "To use another one, start a new shell."
else
  _aspen_sdk=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)
  export CMAKE_PREFIX_PATH="$_aspen_sdk${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
  export CPATH="$_aspen_sdk/include${CPATH:+:$CPATH}"
  export LIBRARY_PATH="$_aspen_sdk/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
  export LD_LIBRARY_PATH="$_aspen_sdk/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export PYTHONPATH="$_aspen_sdk/python${PYTHONPATH:+:$PYTHONPATH}"
  # bin holds a python3: the interpreter that the packages are built for.
  export PATH="$_aspen_sdk/bin:$PATH"
  export POPLAR_SDK_ENABLED="$_aspen_sdk"
  unset _aspen_sdk
fi
