// Activations with the hardware's approximations: tanh.approx, ex2.approx and rcp.approx.
__device__ __forceinline__ float fastTanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

extern "C" __global__ void gelu(const float* x, float* tanhForm, float* sigmoidForm, float* preciseForm, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  tanhForm[i] = 0.5f * v * (1.0f + fastTanh(0.7978845608f * (v + 0.044715f * v * v * v)));
  sigmoidForm[i] = __fdividef(v, 1.0f + __expf(-1.702f * v));
  preciseForm[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}
