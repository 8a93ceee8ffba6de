# Makes this SDK the one that compilers, linkers and python3 find. Use:
#   source enable.sh
_aspen_sdk=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)
_aspen_prepend() {
  # $1: variable, $2: folder; put first, once, with no empty entry left over.
  local rest
  eval "rest=\":\${$1:-}:\""
  rest=${rest//:$2:/:}
  rest=${rest#:}
  rest=${rest%:}
  export "$1=$2${rest:+:$rest}"
}
_aspen_prepend CPATH "$_aspen_sdk/include"
_aspen_prepend LIBRARY_PATH "$_aspen_sdk/lib"
_aspen_prepend LD_LIBRARY_PATH "$_aspen_sdk/lib"
_aspen_prepend PYTHONPATH "$_aspen_sdk/python"
# bin holds a python3: the interpreter that the packages are built for.
_aspen_prepend PATH "$_aspen_sdk/bin"
_aspen_prepend CMAKE_PREFIX_PATH "$_aspen_sdk"
export POPLAR_SDK_ENABLED="$_aspen_sdk"
unset _aspen_sdk
unset -f _aspen_prepend
