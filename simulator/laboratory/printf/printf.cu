// What a card prints: simulator output is held to printf.txt, which this program wrote on an H200.
// nvcc -arch=sm_90 printf.cu -o printf && ./printf > printf.txt
#include <cassert>
#include <cstdio>

extern "C" __global__ void formats(double one) {
  printf("%d|%i|%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%-8.3d|\n", 42, -42, 42, 42, 42, 42, 42, 42, 42, 42);
  printf("%u|%x|%X|%o|%#x|%#X|%#o|%#x|\n", 4000000000u, 255, 255, 8, 255, 255, 8, 0);
  printf("%ld|%lld|%lu|%llx|%zu|\n", -5000000000L, -9223372036854775807LL, 18446744073709551615UL, 0x123456789abcdefULL, (size_t)7);
  printf("%hd|%hu|%hhd|%hhu|%hhx|\n", 70000, 70000, 300, 300, 511);
  printf("%c|%5c|%-5c|%c\n", 'a', 'b', 'c', 10);
  printf("%s|%10s|%-10s|%.2s|%10.2s|\n", "text", "text", "text", "text", "text");
  printf("%f|%.0f|%.1f|%10.3f|%-10.3f|%010.3f|%+f|% f|\n", one * 3.14159, one * 2.5, one * 0.25, one * 2.0, one * 2.0, -2.0 * one, one, one);
  printf("%e|%E|%.0e|%.10e|%g|%G|%g|%g|%.3g|%#g|\n", one * 12345.678, one * 1e-10, one * 15.0, one / 3, one * 100000.0, one * 1e-5, one * 1e6, one * 0.0001, one * 1234.5, one);
  printf("%a|%A|%.2a|%a|\n", one, one * 0.1, one * 0.3, one * 0.0);
  printf("%f|%f|%f|%e|%g|%F|%5.1f|\n", one / 0.0, -one / 0.0, 0.0 / 0.0 * one, one / 0.0, one / 0.0, one / 0.0, one / 0.0);
  printf("%.15f|%.20f|%.3f|\n", one * 0.1, one * 0.1, one * 1e15);
  printf("%f|%.2f|\n", one * 1e300, one * 4.9e-324);
  printf("%*d|%-*d|%.*f|%*.*f|\n", 6, 42, 6, 42, 2, one * 3.14159, 9, 3, one * 2.71828);
  printf("%*d|\n", -6, 42);
  printf("100%%|%5%|%d%%\n", 7);
  printf("%p|%p|\n", (void*)0x1234, (void*)0);
  printf("no arguments\n");
  printf("float %f, char %d, short %d\n", 1.5f * (float)one, (char)-3, (short)-300);
  printf("%s\n", (const char*)0);
  printf("ende\n");
}

extern "C" __global__ void order() {
  int i = threadIdx.x;
  printf("a%d\n", i);
  printf("b%d\n", i);
  if (i & 1) printf("odd %d\n", i);
  else printf("even %d\n", i);
  for (int k = 0; k < i; k++) printf("%d.%d\n", i, k);
  printf("c%d\n", i);
}

extern "C" __global__ void returns(int* out) {
  out[0] = printf("");
  out[1] = printf("x\n");
  out[2] = printf("%d %s %f\n", 1, "y", 2.0);
  out[3] = printf("%*.*f\n", 8, 2, 1.0);
  out[4] = printf((const char*)0);
  out[5] = printf("%%\n");
}

extern "C" __global__ void fails(int n) { assert(threadIdx.x + blockIdx.x * 4 < n && "in bounds"); }

extern "C" __global__ void heap(unsigned long long* out) {
  char* a = (char*)malloc(1);
  char* b = (char*)malloc(1);
  void* none = malloc(0);
  void* huge = malloc(64ull << 20);
  out[0] = (unsigned long long)a % 16;
  out[1] = (unsigned long long)b % 16;
  out[2] = none == nullptr;
  out[3] = huge == nullptr;
  free(a);
  free(b);
  free(none);
  free(nullptr);
}

#ifndef __CUDA_ARCH__
int main() {
  formats<<<1, 1>>>(1.0);
  cudaDeviceSynchronize();
  order<<<1, 4>>>();
  cudaDeviceSynchronize();
  int* ints;
  unsigned long long* words;
  cudaMallocManaged(&ints, 64);
  cudaMallocManaged(&words, 64);
  returns<<<1, 1>>>(ints);
  cudaDeviceSynchronize();
  fflush(stdout);
  for (int k = 0; k < 6; k++) printf("return %d\n", ints[k]);
  heap<<<1, 1>>>(words);
  cudaDeviceSynchronize();
  for (int k = 0; k < 4; k++) printf("heap %llu\n", words[k]);
  fflush(stdout);
  fails<<<2, 4>>>(6);
  printf("after the assertion: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
#endif
