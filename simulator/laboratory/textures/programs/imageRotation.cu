// nvcc: -fmad=false
// Rotation about the middle, as CUDA's simpleTexture sample does: normalised coordinates, wrapped, filtered.
extern "C" __global__ void imageRotation(cudaTextureObject_t image, float *out, int width, int height, float sine, float cosine) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float u = x / (float)width - 0.5f, v = y / (float)height - 0.5f;
  out[y * width + x] = tex2D<float>(image, u * cosine - v * sine + 0.5f, v * cosine + u * sine + 0.5f);
}
