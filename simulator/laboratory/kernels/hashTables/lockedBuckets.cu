// Buckets guarded by spin locks: a thread takes the lock, appends to the bucket's list and lets go. Locks are taken by
// compare-and-swap and freed by exchange, with fences; a lane that holds one must go on while others of its warp spin.
struct Bucket {
  int lock, count, sum, items[12];
};

extern "C" __global__ void lockedBuckets(const int* values, Bucket* buckets, int bucketCount, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Bucket* bucket = &buckets[values[i] % bucketCount];
  bool done = false;
  while (!done) {
    if (atomicCAS(&bucket->lock, 0, 1) == 0) {
      __threadfence();
      volatile Bucket* held = bucket;
      int at = held->count;
      if (at < 12) held->items[at] = values[i];
      held->count = at + 1;
      held->sum += values[i];
      __threadfence();
      atomicExch(&bucket->lock, 0);
      done = true;
    }
  }
}
