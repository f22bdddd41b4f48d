// Calls of every kind: direct, mutual and indirect recursion, local arrays in activations, structures by value.

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void fibonacciOfThread(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 15); }

__device__ __noinline__ int isOdd(int n);
__device__ __noinline__ int isEven(int n) { return n == 0 ? 1 : isOdd(n - 1); }
__device__ __noinline__ int isOdd(int n) { return n == 0 ? 0 : isEven(n - 1) + (n & 4); }

extern "C" __global__ void parity(int* out) {
  int i = threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 5; k++) {
    if ((i + k) & 1) sum += isEven(i + k);
    else sum -= isOdd(i * 2 + k);
  }
  out[i] = sum;
}

// Visits permutations with an array in every activation.
__device__ __noinline__ unsigned permute(const int* before, int depth, unsigned hash) {
  int own[5];
  for (int k = 0; k < 5; k++) own[k] = before[k];
  if (depth == 5) {
    for (int k = 0; k < 5; k++) hash = hash * 31 + own[k];
    return hash;
  }
  for (int k = depth; k < 5; k++) {
    int kept = own[depth];
    own[depth] = own[k];
    own[k] = kept;
    hash = permute(own, depth + 1, hash);
    own[k] = own[depth];
    own[depth] = kept;
  }
  return hash;
}

extern "C" __global__ void permutations(unsigned* out) {
  int start[5];
  for (int k = 0; k < 5; k++) start[k] = (threadIdx.x * 7 + k * 3) % 11;
  out[threadIdx.x] = permute(start, threadIdx.x % 3, threadIdx.x);
}

// A structure by value through recursion, indexed dynamically.
struct Digits {
  long long total;
  float weights[4];
  signed char steps[3];
};

__device__ __noinline__ Digits descend(Digits digits, int n, double scale) {
  if (n == 0) return digits;
  digits.weights[n & 3] += (float)scale;
  digits.steps[n % 3] += n;
  Digits below = descend(digits, n - 1, scale * 0.5);
  below.total += digits.steps[n % 3] * 1000LL + n;
  below.weights[(n + 1) & 3] *= 2.0f;
  return below;
}

extern "C" __global__ void structures(Digits* out, int n) {
  Digits digits = {(long long)threadIdx.x, {1.0f, 2.0f, 3.0f, 4.0f}, {1, 2, 3}};
  out[threadIdx.x] = descend(digits, threadIdx.x % n, 4.0);
}

// Recursion through a pointer: an expression tree with virtual methods.
struct Node {
  __device__ virtual float value(float x) const = 0;
};
struct Leaf : Node {
  float scale;
  __device__ float value(float x) const override { return scale * x; }
};
struct Sum : Node {
  const Node* a;
  const Node* b;
  __device__ float value(float x) const override { return a->value(x) + b->value(x + 1.0f); }
};
struct Product : Node {
  const Node* a;
  const Node* b;
  __device__ float value(float x) const override { return a->value(x) * b->value(x - 1.0f); }
};
struct Choice : Node {
  const Node* a;
  const Node* b;
  __device__ float value(float x) const override { return x > 4.0f ? a->value(x * 0.5f) : b->value(x * 2.0f); }
};

extern "C" __global__ void expressions(float* out) {
  Leaf leaves[2];
  leaves[0].scale = 2.0f;
  leaves[1].scale = 0.5f;
  Sum sum;
  Product product;
  Choice choice;
  sum.a = &leaves[0];
  sum.b = &leaves[1];
  product.a = &sum;
  product.b = &leaves[threadIdx.x & 1];
  choice.a = &product;
  choice.b = (threadIdx.x & 2) ? (const Node*)&sum : (const Node*)&product;
  const Node* all[5] = {&leaves[0], &sum, &product, &choice, &leaves[1]};
  out[threadIdx.x] = all[threadIdx.x % 5]->value((float)(threadIdx.x / 4));
}

// Barriers and shuffles inside functions that are called twice.
__device__ __noinline__ float neighbours(float value, float* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  float sum = shared[(threadIdx.x + 1) % blockDim.x] + shared[(threadIdx.x + blockDim.x - 1) % blockDim.x];
  __syncthreads();
  return sum + __shfl_xor_sync(0xffffffffu, sum, 3);
}

extern "C" __global__ void exchange(float* values) {
  __shared__ float shared[64];
  float value = values[threadIdx.x];
  for (int k = 0; k < 3; k++) value = neighbours(value, shared) * 0.25f;
  if (fibonacci(5 + (threadIdx.x & 3)) > 6) value += 1.0f;
  values[threadIdx.x] = neighbours(value, shared);
}

// A thread may end inside a function.
__device__ __noinline__ int orEnd(int value) {
  if (value % 5 == 0) asm volatile("exit;");
  return value * 2;
}

extern "C" __global__ void endings(int* out) {
  int sum = 0;
  for (int k = 1; k < 6; k++) sum += orEnd(threadIdx.x + k * 6);
  out[threadIdx.x] = sum;
}

// A list for each thread, from the device heap.
struct Cell {
  Cell* next;
  int value;
};

__device__ __noinline__ int sumOf(const Cell* cell) { return cell == nullptr ? 0 : cell->value + sumOf(cell->next); }

extern "C" __global__ void lists(int* out) {
  Cell* head = nullptr;
  for (int k = 0; k <= (int)threadIdx.x % 9; k++) {
    Cell* cell = (Cell*)malloc(sizeof(Cell));
    cell->next = head;
    cell->value = threadIdx.x * 10 + k;
    head = cell;
  }
  out[threadIdx.x] = sumOf(head);
  while (head != nullptr) {
    Cell* next = head->next;
    free(head);
    head = next;
  }
}

// A table of many functions, some of them recursive.
typedef unsigned (*Mixer)(unsigned, unsigned);
__device__ unsigned mixAdd(unsigned a, unsigned b) { return a + b; }
__device__ unsigned mixSub(unsigned a, unsigned b) { return a - b; }
__device__ unsigned mixXor(unsigned a, unsigned b) { return a ^ (b << 3); }
__device__ unsigned mixMul(unsigned a, unsigned b) { return a * (b | 1); }
__device__ unsigned mixMany(unsigned a, unsigned b);
__device__ unsigned mixRotate(unsigned a, unsigned b) { return (a << 5) | (a >> 27); }
__device__ Mixer mixers[6] = {mixAdd, mixSub, mixXor, mixMul, mixMany, mixRotate};
__device__ unsigned mixMany(unsigned a, unsigned b) {
  return (b & 7) == 0 ? a : mixers[a % 6](mixMany(a * 3 + 1, b - 1), b);
}

extern "C" __global__ void mixes(unsigned* out, int rounds) {
  unsigned a = threadIdx.x, b = threadIdx.x * 2654435761u;
  for (int k = 0; k < rounds; k++) a = mixers[(a + k) % 6](a, b >> k);
  out[threadIdx.x] = a;
}
