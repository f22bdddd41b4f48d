// Philox 4x32-10: four random words a counter, as floats.
__device__ uint4 philoxRound(uint4 c, uint2 key) {
  unsigned high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
  unsigned high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
  return make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
}

extern "C" __global__ void philox(float4* uniforms, unsigned seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 counter = make_uint4(i, i >> 16, 7, 0);
  uint2 key = make_uint2(seed, 5);
#pragma unroll
  for (int round = 0; round < 10; round++) {
    if (round > 0) {
      key.x += 0x9E3779B9u;
      key.y += 0xBB67AE85u;
    }
    counter = philoxRound(counter, key);
  }
  uniforms[i] = make_float4((counter.x >> 8) * 0x1p-24f, (counter.y >> 8) * 0x1p-24f, (counter.z >> 8) * 0x1p-24f,
                            (counter.w >> 8) * 0x1p-24f);
}
