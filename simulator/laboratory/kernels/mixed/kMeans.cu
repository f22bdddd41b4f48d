// A step of k-means: nearest centre of each point, fixed-point sums by atomics in shared and global memory, new centres.
#define CENTRES 5

extern "C" __global__ void assign(const float2* points, const float2* centres, int* nearest, long long* sums, int* counts,
                                  int n) {
  __shared__ float2 c[CENTRES];
  __shared__ unsigned long long local[2 * CENTRES];
  __shared__ int localCounts[CENTRES];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t < CENTRES) {
    c[t] = centres[t];
    localCounts[t] = 0;
  }
  if (t < 2 * CENTRES) local[t] = 0;
  __syncthreads();
  if (i < n) {
    float2 p = points[i];
    int best = 0;
    float least = 3e38f;
#pragma unroll
    for (int k = 0; k < CENTRES; k++) {
      float dx = __fsub_rn(p.x, c[k].x), dy = __fsub_rn(p.y, c[k].y), d = __fmaf_rn(dx, dx, __fmul_rn(dy, dy));
      if (d < least) {
        least = d;
        best = k;
      }
    }
    nearest[i] = best;
    atomicAdd(&local[2 * best], (unsigned long long)__float2ll_rn(p.x * 65536.0f));
    atomicAdd(&local[2 * best + 1], (unsigned long long)__float2ll_rn(p.y * 65536.0f));
    atomicAdd(&localCounts[best], 1);
  }
  __syncthreads();
  if (t < 2 * CENTRES) atomicAdd((unsigned long long*)&sums[t], local[t]);
  if (t < CENTRES) atomicAdd(&counts[t], localCounts[t]);
}

extern "C" __global__ void moveCentres(float2* centres, const long long* sums, const int* counts) {
  int k = threadIdx.x;
  if (k >= CENTRES || counts[k] == 0) return;
  double scale = 1.0 / 65536.0;
  centres[k].x = (float)(((double)sums[2 * k] * scale) / counts[k]);
  centres[k].y = (float)(((double)sums[2 * k + 1] * scale) / counts[k]);
}
