/* One product of a tile's shape, D = A · B + C, again and again: M, N, K, FACTOR and SUM are given to the compiler. Prints nanoseconds a product. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static FACTOR a[M][K], b[K][N];
static SUM c[M][N], d[M][N];

static __attribute__((noinline)) void product(void) {
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) d[i][j] = c[i][j];
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < N; ++j) d[i][j] += (SUM)a[i][k] * (SUM)b[k][j];
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int count, char **arguments) {
  int rounds = count > 1 ? atoi(arguments[1]) : 100000;
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) a[i][k] = (FACTOR)(rand() % 100 - 50);
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j) b[k][j] = (FACTOR)(rand() % 100 - 50);
  double best = 1e30, sum = 0;
  for (int repeat = 0; repeat < 7; ++repeat) {
    double from = now();
    for (int round = 0; round < rounds; ++round) {
      product();
      __asm__ volatile("" ::: "memory");
    }
    double took = (now() - from) / rounds;
    if (took < best) best = took;
    sum += (double)d[M - 1][N - 1];
  }
  fprintf(stderr, "%g\n", sum);
  printf("%.1f\n", best);
  return 0;
}
