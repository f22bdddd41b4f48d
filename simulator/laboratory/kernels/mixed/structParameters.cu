// Structures by value as parameters: nested, with arrays, pointers and odd sizes; indexed at run time.
struct Tensor {
  const float* data;
  int dims[3];
  int strides[3];
};
struct Options {
  double scale;
  char mode;
  short offsets[5];
  Tensor inputs[2];
  float4 bias;
};
struct Tiny {
  char a, b, c;
};

extern "C" __global__ void structParameters(const __grid_constant__ Options options, Tiny tiny, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Tensor& a = options.inputs[i & 1];
  int x = i % a.dims[0], y = i / a.dims[0] % a.dims[1], z = i / (a.dims[0] * a.dims[1]) % a.dims[2];
  float v = a.data[x * a.strides[0] + y * a.strides[1] + z * a.strides[2]];
  const float* bias = &options.bias.x;
  float sum = __fadd_rn(v, bias[i & 3]);
  if (options.mode == 'd') sum = (float)__dmul_rn((double)sum, options.scale);
  out[i] = __fadd_rn(sum, (float)(options.offsets[i % 5] + tiny.a * 100 + tiny.b * 10 + tiny.c));
}
