/* A buffer of f16 as f32. */
static float *widened(int index) {
  size_t count = arguments[index].bytes / 2;
  float *wide = malloc(count * sizeof(float));
  for (size_t at = 0; at < count; ++at) wide[at] = ((_Float16 *)arguments[index].buffer)[at];
  return wide;
}
