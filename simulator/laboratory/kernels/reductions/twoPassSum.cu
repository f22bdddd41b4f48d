// Mean and variance in two kernels: partial sums of a grid-stride loop in f64, then one block folds them.
extern "C" __global__ void partialMoments(const float* x, double2* partial, int n) {
  __shared__ double2 shared[64];
  double sum = 0.0, squares = 0.0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) {
    double v = x[i];
    sum = __dadd_rn(sum, v);
    squares = __dadd_rn(squares, __dmul_rn(v, v));
  }
  shared[threadIdx.x] = make_double2(sum, squares);
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x].x += shared[threadIdx.x + half].x;
      shared[threadIdx.x].y += shared[threadIdx.x + half].y;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
}

extern "C" __global__ void foldMoments(const double2* partial, double* moments, int blocks, int n) {
  if (threadIdx.x != 0) return;
  double sum = 0.0, squares = 0.0;
  for (int b = 0; b < blocks; b++) {
    sum += partial[b].x;
    squares += partial[b].y;
  }
  double mean = __ddiv_rn(sum, (double)n);
  moments[0] = mean;
  moments[1] = __dsqrt_rn(__dsub_rn(__ddiv_rn(squares, (double)n), __dmul_rn(mean, mean)));
}
