// nvcc: -fmad=false
// Five points around each texel, clamped at the edges: no thread asks where the edge is.
extern "C" __global__ void textureStencil(cudaTextureObject_t from, float *to, int width, int height, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float px = x + 0.5f, py = y + 0.5f;
  float centre = tex2D<float>(from, px, py);
  float sum = tex2D<float>(from, px - 1, py) + tex2D<float>(from, px + 1, py);
  sum += tex2D<float>(from, px, py - 1) + tex2D<float>(from, px, py + 1);
  to[y * width + x] = centre + rate * (sum - 4 * centre);
}
