#!/bin/sh
# Compiles every source in every variant: compile.sh TARGET_FOLDER, then packHeldOut.js. Needs nvcc.
set -e
cd "$(dirname "$0")/sources"
target=${1:?usage: compile.sh TARGET_FOLDER}
mkdir -p "$target"
for source in *.cu; do
  name=${source%.cu}
  nvcc -ptx -O3 -arch=sm_90 "$source" -o "$target/$name.sm90.ptx"
  nvcc -ptx -arch=sm_80 -Xcicc -O1 "$source" -o "$target/$name.sm80O1.ptx"
  nvcc -ptx -O3 -arch=sm_90 -DIDX='long long' -DR=__restrict__ "$source" -o "$target/$name.wide.ptx"
done
cp handWritten.ptx "$target/handWritten.sm90.ptx"
