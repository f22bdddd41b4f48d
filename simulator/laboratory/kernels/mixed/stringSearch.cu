// Every place of a pattern in a text, without regard to case: the pattern in constant memory, places in any order, and
// Horspool's skips counted by a second kernel.
__constant__ char pattern[8] = "WinD";

__device__ char lower(char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

extern "C" __global__ void stringSearch(const char* text, int length, int patternLength, int* places, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + patternLength > length) return;
  for (int k = 0; k < patternLength; k++)
    if (lower(text[i + k]) != lower(pattern[k])) return;
  places[atomicAdd(count, 1)] = i;
}

extern "C" __global__ void countSkips(const char* text, int length, int patternLength, int chunk, int* skips) {
  unsigned char shift[128];
  for (int c = 0; c < 128; c++) shift[c] = patternLength;
  for (int k = 0; k < patternLength - 1; k++) shift[lower(pattern[k])] = patternLength - 1 - k;
  int first = threadIdx.x * chunk, end = min(first + chunk, length), steps = 0;
  for (int at = first; at + patternLength <= end; at += shift[lower(text[at + patternLength - 1]) & 127]) steps++;
  skips[threadIdx.x] = steps;
}
