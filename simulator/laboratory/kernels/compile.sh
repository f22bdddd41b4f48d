#!/bin/sh
# Makes the .ptx beside each .cu given (all of them without arguments). A first line `// nvcc: FLAGS` adds flags.
set -e
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- */*.cu
for source in "$@"; do
  flags=$(sed -n '1s,^// nvcc: ,,p' "$source")
  # shellcheck disable=SC2086
  nvcc -ptx -arch=sm_90 $flags "$source" -o "${source%.cu}.ptx"
done
