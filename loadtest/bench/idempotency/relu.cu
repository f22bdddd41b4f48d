// nvcc -ptx -O3 -arch=sm_90 relu.cu -o relu.ptx
extern "C" __global__ void relu(float *b, const float *a, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < n; i++) b[row * n + i] = a[row * n + i] > 0 ? a[row * n + i] : 0;
}
