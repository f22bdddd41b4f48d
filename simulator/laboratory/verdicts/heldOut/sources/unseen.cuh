// What the held-out kernels share. compile.sh sets IDX and R to make variants of one source.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#ifndef IDX
#define IDX int
#endif
#ifndef R
#define R
#endif
typedef IDX idx;
#define K extern "C" __global__ void
