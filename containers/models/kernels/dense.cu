// A fully connected layer, and the kernel values of support vectors: for each item and output n,
//   dense: y[n] = activation(bias[n] + sum over k of x[k] * weights[k][n])
//   rbf:   y[n] = exp(-gamma * sum over k of (x[k] - vectors[k][n])^2)
// x[batch x inputs], weights[inputs x stride], bias[outputs], y[batch x outputs]; stride is outputs rounded up to a
// multiple of 4, so that a thread can load its four outputs' weights at once.
// grid = (batch, ceilDiv(stride / 4, groups)), block = (groups, splits): a thread sums a slice of the inputs for four outputs.
// dynamic shared memory: groups * splits * 4 values.
#include "arithmetic.cuh"

extern __shared__ __align__(16) unsigned char shared[];

struct Product {
  template <typename T>
  static __device__ __forceinline__ T term(T x, T w) { return x * w; }
};
struct SquaredDistance {
  template <typename T>
  static __device__ __forceinline__ T term(T x, T w) { const T d = x - w; return d * d; }
};

template <typename T, typename Term>
__device__ __forceinline__ void sumSlice(const T* __restrict__ x, const T* __restrict__ weights, T* partial, int inputs,
                                         int stride) {
  const int group = blockIdx.y * blockDim.x + threadIdx.x;
  const int slice = (inputs + blockDim.y - 1) / blockDim.y;
  const int first = threadIdx.y * slice, last = min(first + slice, inputs);
  T a = 0, b = 0, c = 0, d = 0;
  if (4 * group < stride) {
    const T* values = x + static_cast<long long>(blockIdx.x) * inputs;
    const T* w = weights + static_cast<long long>(first) * stride + 4 * group;
#pragma unroll 4
    for (int k = first; k < last; k++, w += stride) {
      const T value = values[k];
      const Four<T> row = loadFour(w);
      a += Term::term(value, row.a);
      b += Term::term(value, row.b);
      c += Term::term(value, row.c);
      d += Term::term(value, row.d);
    }
  }
  T* mine = partial + 4 * (threadIdx.y * blockDim.x + threadIdx.x);
  mine[0] = a;
  mine[1] = b;
  mine[2] = c;
  mine[3] = d;
  __syncthreads();
}

// Calls finish(n, sum) for each of the block's outputs, on some thread.
template <typename T, typename Finish>
__device__ __forceinline__ void joinSlices(const T* partial, int outputs, Finish finish) {
  const int width = 4 * blockDim.x, first = 4 * blockIdx.y * blockDim.x;
  for (int unit = threadIdx.y * blockDim.x + threadIdx.x; unit < width; unit += blockDim.x * blockDim.y) {
    if (first + unit >= outputs) return;
    T total = 0;
    for (int split = 0; split < blockDim.y; split++) total += partial[split * width + unit];
    finish(first + unit, total);
  }
}

template <typename T>
__device__ __forceinline__ void dense(const T* __restrict__ x, const T* __restrict__ weights, const T* __restrict__ bias,
                                      T* __restrict__ y, int inputs, int outputs, int stride, int activation) {
  T* partial = reinterpret_cast<T*>(shared);
  sumSlice<T, Product>(x, weights, partial, inputs, stride);
  T* row = y + static_cast<long long>(blockIdx.x) * outputs;
  joinSlices(partial, outputs, [&](int n, T total) { row[n] = activated(total + bias[n], activation); });
}

extern "C" __global__ void dense_f32(const float* x, const float* weights, const float* bias, float* y, int inputs,
                                     int outputs, int stride, int activation) {
  dense(x, weights, bias, y, inputs, outputs, stride, activation);
}

extern "C" __global__ void dense_f64(const double* x, const double* weights, const double* bias, double* y, int inputs,
                                     int outputs, int stride, int activation) {
  dense(x, weights, bias, y, inputs, outputs, stride, activation);
}

extern "C" __global__ void rbf_f64(const double* x, const double* vectors, double* y, int inputs, int outputs, int stride,
                                   double gamma) {
  double* partial = reinterpret_cast<double*>(shared);
  sumSlice<double, SquaredDistance>(x, vectors, partial, inputs, stride);
  double* row = y + static_cast<long long>(blockIdx.x) * outputs;
  joinSlices(partial, outputs, [&](int n, double total) { row[n] = exponential(-gamma * total); });
}
