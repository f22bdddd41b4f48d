// nvcc: -fmad=false
// Rays through a volume, samples between voxels: what volume renderers do, without colours.
extern "C" __global__ void volumeRays(cudaTextureObject_t volume, float *out, int width, int height, int steps) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float u = (x + 0.25f) / width, v = (y + 0.75f) / height;
  float sum = 0, transparency = 1;
  for (int k = 0; k < steps; ++k) {
    float w = (k + 0.5f) / steps;
    float density = tex3D<float>(volume, u + 0.1f * w, v - 0.05f * w, w);
    if (density < 0.1f) continue;
    sum += transparency * density;
    transparency *= 1 - 0.25f * density;
    if (transparency < 0.05f) break;
  }
  out[y * width + x] = sum;
}
