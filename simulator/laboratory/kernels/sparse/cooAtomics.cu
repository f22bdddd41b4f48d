// Coordinate format, an entry a thread, added by atomics: floats in an open order, doubles too, integers exactly.
extern "C" __global__ void cooAtomics(const int* rows, const int* columns, const float* values, const float* x, float* y,
                                      double* precise, unsigned long long* fixedPoint, int entries) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= entries) return;
  float product = __fmul_rn(values[e], x[columns[e]]);
  atomicAdd(&y[rows[e]], product);
  atomicAdd(&precise[rows[e]], (double)product);
  atomicAdd(&fixedPoint[rows[e]], (unsigned long long)__float2ll_rn(ldexpf(product, 30)));
}
