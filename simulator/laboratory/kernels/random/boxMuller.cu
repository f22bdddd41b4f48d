// Normal numbers from pairs of words by Box and Muller: with the approximate functions, and with the library's.
extern "C" __global__ void boxMuller(const uint2* words, float2* fast, float2* precise, double* doubles, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint2 w = words[i];
  float u = ((w.x >> 8) + 1) * 0x1p-24f, v = (w.y >> 8) * 0x1p-24f;
  float radius = sqrtf(-2.0f * __logf(u)), s, c;
  __sincosf(6.2831853f * v, &s, &c);
  fast[i] = make_float2(radius * c, radius * s);
  radius = sqrtf(-2.0f * logf(u));
  sincospif(2.0f * v, &s, &c);
  precise[i] = make_float2(radius * c, radius * s);
  doubles[i] = sqrt(-2.0 * log((double)u)) * cospi(2.0 * (double)v);
}
