// Where an element of a strided array lies. A geometry is a table of whole numbers: its rank, and for each axis its
// extent and K strides, the first axis (the batch) first. The first extent is not read, so that it may grow.
#pragma once

template <int K>
__device__ __forceinline__ void locate(const int* __restrict__ geometry, int index, int (&at)[K]) {
#pragma unroll
  for (int k = 0; k < K; k++) at[k] = 0;
#pragma unroll 1
  for (int axis = geometry[0] - 1; axis > 0; axis--) {
    const int* row = geometry + 1 + axis * (K + 1);
    const int next = static_cast<unsigned>(index) / static_cast<unsigned>(row[0]);
    const int place = index - next * row[0];
#pragma unroll
    for (int k = 0; k < K; k++) at[k] += place * row[1 + k];
    index = next;
  }
#pragma unroll
  for (int k = 0; k < K; k++) at[k] += index * geometry[2 + k];
}

// One thread an element; grid = ceilDiv(count, 128), block = 128.
#define ELEMENT                                              \
  const int index = blockIdx.x * blockDim.x + threadIdx.x; \
  if (index >= count) return;
