// nvcc: -fmad=false
// Brightness and contrast of an image in floats, to bytes: saturation, fmin/fmax beside NaN, conversion with rounding.
extern "C" __global__ void clampImage(const float* in, unsigned char* bytes, float* unit, short* shorts, int n,
                                      float gain, float bias) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i] * gain + bias;
  bytes[i] = (unsigned char)__float2uint_rn(fminf(fmaxf(v, 0.0f), 255.0f));
  unit[i] = __saturatef(v);
  shorts[i] = (short)max(-32768, min(32767, __float2int_rz(v * 1000.0f)));
}
