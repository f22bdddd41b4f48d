#!/bin/sh
# Compiles every source in every variant and packs what nvcc makes of them: compile.sh TARGET_FOLDER, then packBodies.js.
# A variant is a name and the flags that make it.
set -e
cd "$(dirname "$0")/sources"
target=${1:?usage: compile.sh TARGET_FOLDER}
mkdir -p "$target"
variants='
i32.plain
i32.restrict -DRESTRICT=__restrict__
i32.rolled -DROLLED
i32.o1 -Xcicc -O1
i64.plain -DINDEX=longlong
i64.restrict -DINDEX=longlong -DRESTRICT=__restrict__
i64.rolled -DINDEX=longlong -DROLLED
u32.restrict -DINDEX=unsigned -DRESTRICT=__restrict__
i64.o1 -DINDEX=longlong -DRESTRICT=__restrict__ -Xcicc -O1
'
for source in *.cu; do
  echo "$variants" | while read -r name flags; do
    [ -n "$name" ] || continue
    # shellcheck disable=SC2086
    nvcc -ptx -arch=sm_90 -Dlonglong='long long' $flags "$source" -o "$target/${source%.cu}.$name.ptx"
  done
done
