// Runs every probe kernel over its operands and writes what it gave, form after form.
//   nvcc -O2 -cudart static -o host card.cu && ./host DIR RESULTS CASES
// DIR/forms.txt has a line a form: module, operand file, number of sources, number of results.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

static std::string current;
static bool failed = false;

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", current.c_str(), cudaGetErrorString(error));
  failed = true;
}

int main(int, char **arguments) {
  const std::string directory = arguments[1];
  FILE *results = fopen(arguments[2], "wb");
  unsigned cases = atoi(arguments[3]);
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  printf("%s\n", properties.name);
  void *in, *out;
  check(cudaMalloc(&in, cases * 64));
  check(cudaMalloc(&out, cases * 64));
  std::ifstream list(directory + "/forms.txt");
  std::string loaded;
  cudaLibrary_t library = nullptr;
  int index = 0, failures = 0;
  while (std::getline(list, current)) {
    std::istringstream fields(current);
    std::string module, operands;
    int sources, outputs;
    fields >> module >> operands >> sources >> outputs;
    failed = false;
    if (module != loaded) {
      if (library) cudaLibraryUnload(library);
      check(cudaLibraryLoadFromFile(&library, (directory + "/" + module).c_str(), 0, 0, 0, 0, 0, 0));
      loaded = module;
    }
    std::vector<char> words(size_t(cases) * 8 * sources);
    std::ifstream file(directory + "/" + operands, std::ios::binary);
    if (!file.read(words.data(), words.size())) failed = true;
    check(cudaMemcpy(in, words.data(), words.size(), cudaMemcpyHostToDevice));
    check(cudaMemset(out, 0xee, cases * 64));
    cudaKernel_t kernel;
    check(cudaLibraryGetKernel(&kernel, library, ("op" + std::to_string(index)).c_str()));
    void *launch[] = {&in, &out, &cases};
    check(cudaLaunchKernel((const void *)kernel, dim3((cases + 127) / 128), dim3(128), launch, 0, 0));
    check(cudaDeviceSynchronize());
    std::vector<char> gave(size_t(cases) * 8 * outputs);
    check(cudaMemcpy(gave.data(), out, gave.size(), cudaMemcpyDeviceToHost));
    fwrite(gave.data(), 1, gave.size(), results);
    failures += failed;
    index++;
  }
  fclose(results);
  printf("%d forms, %d failed\n", index, failures);
  return failures > 0;
}
