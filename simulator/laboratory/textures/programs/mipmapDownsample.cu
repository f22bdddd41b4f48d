// nvcc: -fmad=false
// Levels of detail chosen by each thread, and by gradients.
extern "C" __global__ void levelsOfDetail(cudaTextureObject_t image, float *out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float u = (i % 16 + 0.5f) / 16, v = (i / 16 % 16 + 0.5f) / 16;
  out[3 * i] = tex2DLod<float>(image, u, v, i * 0.03125f);
  out[3 * i + 1] = tex2DGrad<float>(image, u, v, make_float2(0.125f, 0), make_float2(0, 0.0625f));
  out[3 * i + 2] = tex2D<float>(image, u, v);
}
