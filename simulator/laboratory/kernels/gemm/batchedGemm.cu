// Small products by the batch: pointers to each matrix in tables, one matrix a block along z, transposed on demand.
struct Shape {
  int m, n, k;
  bool transposeA;
};

template <bool Transposed>
__device__ float element(const float* a, int row, int i, Shape shape) {
  return Transposed ? a[i * shape.m + row] : a[row * shape.k + i];
}

template <bool Transposed>
__device__ void multiply(const float* a, const float* b, float* c, Shape shape) {
  for (int at = threadIdx.x; at < shape.m * shape.n; at += blockDim.x) {
    int row = at / shape.n, column = at % shape.n;
    float sum = 0.0f;
    for (int i = 0; i < shape.k; i++) sum = fmaf(element<Transposed>(a, row, i, shape), b[i * shape.n + column], sum);
    c[at] = sum;
  }
}

extern "C" __global__ void fillTables(float* a, float* b, float* c, const float** as, const float** bs, float** cs,
                                      Shape shape, int batch) {
  int i = threadIdx.x;
  if (i >= batch) return;
  as[i] = a + i * shape.m * shape.k;
  bs[i] = b + (batch - 1 - i) * shape.k * shape.n;
  cs[i] = c + i * shape.m * shape.n;
}

extern "C" __global__ void batchedGemm(const float* const* as, const float* const* bs, float* const* cs, Shape shape) {
  int i = blockIdx.z;
  if (shape.transposeA) multiply<true>(as[i], bs[i], cs[i], shape);
  else multiply<false>(as[i], bs[i], cs[i], shape);
}
