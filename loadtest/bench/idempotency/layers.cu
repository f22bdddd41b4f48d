// nvcc -ptx -O3 -arch=sm_90 layers.cu -o layers.ptx
// Layers of an image classifier at the extents that it has, as compilers of models write them: every extent is constant, and the
// launch is exactly as large as the output. Loops are kept as loops.
#define N(i) const int i = blockIdx.x * blockDim.x + threadIdx.x
#define LOOP _Pragma("unroll 1")

extern "C" __global__ void conv3x3Relu(float* out, const float* in, const float* w, const float* bias) { // 16 -> 32 of 28 x 28
  N(i);
  const int x = i % 28, y = i / 28 % 28, c = i / 784;
  float sum = bias[c];
  LOOP for (int k = 0; k < 16; k++)
    LOOP for (int r = 0; r < 3; r++)
      LOOP for (int s = 0; s < 3; s++)
        sum += in[(k * 30 + y + r) * 30 + x + s] * w[((c * 16 + k) * 3 + r) * 3 + s];
  out[i] = fmaxf(sum, 0.f);
}
extern "C" __global__ void conv1x1(float* out, const float* in, const float* w) { // 32 -> 16 of 28 x 28
  N(i);
  const int p = i % 784, c = i / 784;
  float sum = 0;
  LOOP for (int k = 0; k < 32; k++) sum += in[k * 784 + p] * w[c * 32 + k];
  out[i] = sum;
}
extern "C" __global__ void depthwise3x3(float* out, const float* in, const float* w) { // 64 of 28 x 28
  N(i);
  const int x = i % 28, y = i / 28 % 28, c = i / 784;
  float sum = 0;
  LOOP for (int r = 0; r < 3; r++)
    LOOP for (int s = 0; s < 3; s++) sum += in[(c * 30 + y + r) * 30 + x + s] * w[(c * 3 + r) * 3 + s];
  out[i] = sum;
}
extern "C" __global__ void maxPool3x3(float* out, const float* in) { // 64 of 56 x 56 -> 28 x 28
  N(i);
  const int x = i % 28, y = i / 28 % 28, c = i / 784;
  float most = -1e30f;
  LOOP for (int r = 0; r < 3; r++)
    LOOP for (int s = 0; s < 3; s++) most = fmaxf(most, in[(c * 58 + 2 * y + r) * 58 + 2 * x + s]);
  out[i] = most;
}
extern "C" __global__ void averagePool7x7(float* out, const float* in) { // 512 of 7 x 7 -> 1
  N(c);
  float sum = 0;
  LOOP for (int r = 0; r < 7; r++)
    LOOP for (int s = 0; s < 7; s++) sum += in[c * 49 + r * 7 + s];
  out[c] = sum / 49;
}
extern "C" __global__ void dense(float* out, const float* in, const float* w, const float* bias) { // 32 -> 1,024, batch of 16
  N(i);
  const int row = i / 1024, c = i % 1024;
  float sum = bias[c];
  LOOP for (int k = 0; k < 32; k++) sum += in[row * 32 + k] * w[c * 32 + k];
  out[i] = sum;
}
extern "C" __global__ void batchNormRelu(float* out, const float* in, const float* scale, const float* shift) { // 64 of 56 x 56
  N(i);
  const int c = i / 3136;
  out[i] = fmaxf(in[i] * scale[c] + shift[c], 0.f);
}
extern "C" __global__ void addRelu(float* out, const float* a, const float* b) { // 64 of 56 x 56
  N(i);
  out[i] = fmaxf(a[i] + b[i], 0.f);
}
extern "C" __global__ void pad1(float* out, const float* in) { // 32 of 28 x 28 -> 30 x 30
  N(i);
  const int x = i % 30, y = i / 30 % 30, c = i / 900;
  const bool inside = x > 0 && x < 29 && y > 0 && y < 29;
  out[i] = inside ? in[(c * 28 + y - 1) * 28 + x - 1] : 0.f;
}
extern "C" __global__ void channelsLast(float* out, const float* in) { // 64 of 56 x 56
  N(i);
  out[i % 3136 * 64 + i / 3136] = in[i];
}
extern "C" __global__ void softmaxRow(float* out, const float* in) { // 128 rows of 32 classes
  N(row);
  float most = -1e30f, sum = 0;
  LOOP for (int c = 0; c < 32; c++) most = fmaxf(most, in[row * 32 + c]);
  LOOP for (int c = 0; c < 32; c++) sum += expf(in[row * 32 + c] - most);
  LOOP for (int c = 0; c < 32; c++) out[row * 32 + c] = expf(in[row * 32 + c] - most) / sum;
}
extern "C" __global__ void conv5x5(float* out, const float* in, const float* w) { // 6 -> 16 of 14 x 14, batch of 16
  N(i);
  const int x = i % 14, y = i / 14 % 14, c = i / 196 % 16, b = i / 3136;
  float sum = 0;
  LOOP for (int k = 0; k < 6; k++)
    LOOP for (int r = 0; r < 5; r++)
      LOOP for (int s = 0; s < 5; s++)
        sum += in[((b * 6 + k) * 18 + y + r) * 18 + x + s] * w[((c * 6 + k) * 5 + r) * 5 + s];
  out[i] = sum;
}
