// Radix-2 FFT of 256 complex numbers a block in shared memory: bit reversal, eight stages, twiddles by the approximate
// sine and cosine and by the library's.
template <bool Fast>
__device__ void transform(float2* x) {
  __shared__ float2 s[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 128) s[__brev(i) >> 24] = x[blockIdx.x * 256 + i];
  __syncthreads();
  for (int size = 2; size <= 256; size *= 2) {
    int half = size / 2, k = t & (half - 1), low = (t - k) * 2 + k, high = low + half;
    float sine, cosine;
    if (Fast) __sincosf(-6.2831853f * k / size, &sine, &cosine);
    else sincospif(-2.0f * k / size, &sine, &cosine);
    float2 a = s[low], b = s[high];
    float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    s[low] = make_float2(a.x + turned.x, a.y + turned.y);
    s[high] = make_float2(a.x - turned.x, a.y - turned.y);
    __syncthreads();
  }
  for (int i = t; i < 256; i += 128) x[blockIdx.x * 256 + i] = s[i];
}

extern "C" __global__ void fftFast(float2* x) { transform<true>(x); }
extern "C" __global__ void fftPrecise(float2* x) { transform<false>(x); }
