// nvcc: -fmad=false
// A layered image, a cube, and the four texels around a place.
extern "C" __global__ void readLayers(cudaTextureObject_t layers, float *out, int width, int height, int count) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int layer = 0; layer <= count; ++layer) sum += (layer + 1) * tex2DLayered<float>(layers, x + 0.25f, y + 0.75f, layer);
  out[y * width + x] = sum;
}
extern "C" __global__ void readCube(cudaTextureObject_t cube, const float3 *directions, float2 *out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float3 d = directions[i];
  out[i] = texCubemap<float2>(cube, d.x, d.y, d.z);
}
extern "C" __global__ void gatherFour(cudaTextureObject_t image, uint4 *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  uint4 red = tex2Dgather<uint4>(image, x + 0.75f, y + 0.25f, 0), blue = tex2Dgather<uint4>(image, x + 1, y + 1, 2);
  out[y * width + x] = make_uint4(red.x * 256 + blue.x, red.y * 256 + blue.y, red.z * 256 + blue.z, red.w * 256 + blue.w);
}
