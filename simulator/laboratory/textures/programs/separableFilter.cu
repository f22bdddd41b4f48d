// nvcc: -fmad=false
// Rows, then columns, of an image of bytes read as colours; the first pass leaves its sums in a surface.
extern "C" __global__ void filterRows(cudaTextureObject_t image, cudaSurfaceObject_t rows, const float *weights, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int k = -4; k <= 4; ++k) {
    float4 c = tex2D<float4>(image, x + k + 0.5f, y + 0.5f);
    float w = weights[k + 4];
    sum.x += w * c.x, sum.y += w * c.y, sum.z += w * c.z, sum.w += w * c.w;
  }
  surf2Dwrite(sum, rows, x * (int)sizeof(float4), y);
}
extern "C" __global__ void filterColumns(cudaTextureObject_t rows, float4 *out, const float *weights, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int k = -4; k <= 4; ++k) {
    float4 c = tex2D<float4>(rows, x + 0.5f, y + k + 0.5f);
    float w = weights[k + 4];
    sum.x += w * c.x, sum.y += w * c.y, sum.z += w * c.z, sum.w += w * c.w;
  }
  out[y * width + x] = sum;
}
