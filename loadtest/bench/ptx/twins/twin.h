/* A kernel's loop nest in C as a process: it holds the launch's buffers, runs when told to and says how long that took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct argument {
  void *buffer;
  size_t bytes;
  int integer;
  float real;
} arguments[16];

#define FLOATS(n) ((float *)arguments[n].buffer)
#define INTS(n) ((int *)arguments[n].buffer)
#define INT(n) (arguments[n].integer)
#define FLOAT(n) (arguments[n].real)

static void twin(void);

static long long now(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void load(struct argument *into, char *text) {
  switch (text[0]) {
    case 'i':
      into->integer = atoi(text + 1);
      return;
    case 'f':
      into->real = strtof(text + 1, NULL);
      return;
  }
  FILE *file = fopen(text + 1, "rb");
  if (file == NULL) fail(text + 1);
  fseek(file, 0, SEEK_END);
  into->bytes = ftell(file);
  rewind(file);
  into->buffer = aligned_alloc(256, (into->bytes + 255) / 256 * 256);
  if (into->buffer == NULL || fread(into->buffer, 1, into->bytes, file) != into->bytes) fail(text + 1);
  fclose(file);
}

/* Arguments in the kernel's order: iINTEGER, fREAL or bFILE, a buffer's contents. Commands come as lines: `run`, and `write N FILE`. */
int main(int count, char **text) {
  for (int at = 1; at < count; at++) load(&arguments[at - 1], text[at]);
  puts("ready");
  fflush(stdout);
  char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL) {
    int index;
    char path[4096];
    if (strcmp(line, "run\n") == 0) {
      long long wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
      twin();
      cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
      printf("%lld %lld\n", now(CLOCK_MONOTONIC) - wall, cpu);
    } else if (sscanf(line, "write %d %4095s", &index, path) == 2) {
      FILE *file = fopen(path, "wb");
      if (file == NULL || fwrite(arguments[index].buffer, 1, arguments[index].bytes, file) != arguments[index].bytes) fail(path);
      fclose(file);
      puts("written");
    } else {
      fputs("expected run, or write N FILE\n", stderr);
      return 2;
    }
    fflush(stdout);
  }
  return 0;
}
