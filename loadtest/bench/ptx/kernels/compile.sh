#!/bin/sh
# Makes the .ptx beside each .cu.
set -e
cd "$(dirname "$0")"
for source in *.cu; do nvcc -ptx -arch=sm_90 "$source" -o "${source%.cu}.ptx"; done
