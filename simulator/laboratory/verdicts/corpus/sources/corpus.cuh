// What the kernels of the corpus share. compile.sh sets INDEX, RESTRICT and ROLLED to make variants of one source.
#pragma once
#include <cuda_fp16.h>

#ifndef INDEX
#define INDEX int
#endif
#ifndef RESTRICT
#define RESTRICT
#endif
#ifdef ROLLED
#define LOOP _Pragma("unroll 1")
#else
#define LOOP
#endif

typedef INDEX idx;
#define KERNEL extern "C" __global__ void
#define GLOBAL_ID ((idx)blockIdx.x * blockDim.x + threadIdx.x)
