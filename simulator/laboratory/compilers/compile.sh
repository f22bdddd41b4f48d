#!/usr/bin/env bash
# Makes the PTX beside each source again. Debian: clang-19 llvm-19 libclc-19 gcc-12-offload-nvptx; rustup's nightly.
set -euo pipefail
cd "$(dirname "$0")"

clang-19 -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -target nvptx64--nvidiacl -march=sm_70 -O2 -S \
  -Xclang -mlink-builtin-bitcode -Xclang /usr/lib/clc/nvptx64--nvidiacl.bc image.cl -o image.ptx
llc-19 -mcpu=sm_90 -mattr=+ptx83 module.ll -o module.ptx
llc-19 -mcpu=sm_70 -mattr=+ptx72 -O0 module.ll -o moduleO0.ptx
rustc +nightly --target nvptx64-nvidia-cuda --emit=asm -O -C panic=abort loops.rs -o loops.ptx

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp gangs.c "$work"
(cd "$work" && gcc-12 -O2 -fopenacc -foffload=nvptx-none -foffload-options="-march=sm_80 -save-temps" -save-temps \
  -shared -fPIC gangs.c -o gangs.so)
nvptx-none-as --no-verify "$work/gangs.so.xnvptx-none.mkoffload.s" -o gangs.ptx
