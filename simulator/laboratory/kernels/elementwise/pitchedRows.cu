// A rectangle of a pitched image, mirrored, through a table: strides in two dimensions, 64-bit row offsets, a grid
// that is smaller than the image.
extern "C" __global__ void pitchedRows(const unsigned char* in, size_t pitchIn, unsigned short* out, size_t pitchOut,
                                       const unsigned short* table, int width, int height, int strideX) {
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y) {
    const unsigned char* row = in + (size_t)y * pitchIn;
    unsigned short* target = (unsigned short*)((char*)out + (size_t)(height - 1 - y) * pitchOut);
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += gridDim.x * blockDim.x)
      target[width - 1 - x] = table[row[x * strideX]] + (unsigned short)(x ^ y);
  }
}
