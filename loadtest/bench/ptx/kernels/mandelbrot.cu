// Escape times, one pixel per thread; lanes leave the loop one by one.
extern "C" __global__ void mandelbrot(int* counts, int width, int height, float left, float top, float step, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float cr = left + x * step, ci = top + y * step, r = 0.f, i = 0.f;
  int count = 0;
  while (count < limit && r * r + i * i <= 4.f) {
    float next = r * r - i * i + cr;
    i = 2.f * r * i + ci;
    r = next;
    ++count;
  }
  counts[y * width + x] = count;
}
