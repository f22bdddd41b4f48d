// The k nearest of each query by an insertion-sorted list in registers a thread; merged for a warp by repeated minima.
#define K 4

extern "C" __global__ void nearestNeighbours(const float4* points, const float4* queries, int* indices, float* distances,
                                             int n) {
  int lane = threadIdx.x, q = blockIdx.x;
  float4 query = queries[q];
  float best[K];
  int where[K];
#pragma unroll
  for (int k = 0; k < K; k++) {
    best[k] = __int_as_float(0x7f800000);
    where[k] = 0x7fffffff;
  }
  for (int i = lane; i < n; i += 32) {
    float4 p = points[i];
    float dx = __fsub_rn(p.x, query.x), dy = __fsub_rn(p.y, query.y), dz = __fsub_rn(p.z, query.z), dw = __fsub_rn(p.w, query.w);
    float d = __fmaf_rn(dx, dx, __fmaf_rn(dy, dy, __fmaf_rn(dz, dz, __fmul_rn(dw, dw))));
    int index = i;
#pragma unroll
    for (int k = 0; k < K; k++)
      if (d < best[k]) {
        float keptD = best[k];
        int keptI = where[k];
        best[k] = d;
        where[k] = index;
        d = keptD;
        index = keptI;
      }
  }
  for (int k = 0; k < K; k++) {
    float least = best[0];
    int at = where[0];
    for (int mask = 16; mask > 0; mask >>= 1) {
      float otherD = __shfl_xor_sync(0xffffffffu, least, mask);
      int otherI = __shfl_xor_sync(0xffffffffu, at, mask);
      if (otherD < least || (otherD == least && otherI < at)) {
        least = otherD;
        at = otherI;
      }
    }
    if (where[0] == at) {
#pragma unroll
      for (int j = 0; j + 1 < K; j++) {
        best[j] = best[j + 1];
        where[j] = where[j + 1];
      }
      best[K - 1] = __int_as_float(0x7f800000);
    }
    if (lane == k) {
      indices[q * K + k] = at;
      distances[q * K + k] = least;
    }
  }
}
