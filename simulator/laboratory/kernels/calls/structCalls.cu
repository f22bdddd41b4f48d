// nvcc: -fmad=false
// Structures by value into and out of functions that are not inlined; arrays inside; references to locals.
struct Complex {
  float re, im;
};
struct Poly {
  Complex c[4];
  short degree;
  char tag;
};

__device__ __noinline__ Complex multiply(Complex a, Complex b) {
  return Complex{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ __noinline__ Poly derive(Poly p) {
  Poly d;
  d.degree = p.degree - 1;
  d.tag = p.tag + 1;
  for (int k = 0; k < 4; k++) d.c[k] = k < 3 ? Complex{p.c[k + 1].re * (k + 1), p.c[k + 1].im * (k + 1)} : Complex{0, 0};
  return d;
}
__device__ __noinline__ void evaluate(const Poly& p, Complex z, Complex* out) {
  Complex sum = {0, 0};
  for (int k = p.degree; k >= 0; k--) {
    sum = multiply(sum, z);
    sum.re += p.c[k].re;
    sum.im += p.c[k].im;
  }
  *out = sum;
}

extern "C" __global__ void structCalls(const Complex* points, Complex* values, Complex* slopes, int* tags, Poly poly, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Complex value;
  evaluate(poly, points[i], &value);
  values[i] = value;
  Poly slope = derive(poly);
  if (i & 1) slope = derive(slope);
  evaluate(slope, points[i], &slopes[i]);
  tags[i] = slope.tag * 100 + slope.degree;
}
