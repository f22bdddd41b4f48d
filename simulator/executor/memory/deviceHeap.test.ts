import { describe, expect, it } from 'vitest';
import { NodeMemory } from './nodeMemory.js';
import { SegmentHeap } from './deviceHeap.js';

describe('the device heap', () => {
  it('gives aligned chunks that do not overlap, and null when it is full', () => {
    const heap = new SegmentHeap(0x1000, 4096);
    const chunks: { address: number; bytes: number }[] = [];
    for (let bytes = 1; ; bytes += 37) {
      const address = heap.malloc(bytes);
      if (address === 0) break;
      chunks.push({ address, bytes });
    }
    expect(chunks.length).toBeGreaterThan(8);
    for (const { address } of chunks) expect(address % 16).toBe(0);
    chunks.forEach(({ address, bytes }, index) => {
      expect(address + bytes).toBeLessThanOrEqual(chunks[index + 1]?.address ?? 0x1000 + 4096);
    });
    expect(heap.allocations()).toEqual(chunks);
  });

  it('joins what is given back, in whatever order, and uses it again', () => {
    const heap = new SegmentHeap(0x1000, 4096);
    const chunks = Array.from({ length: 16 }, () => heap.malloc(200));
    const order = [3, 1, 2, 0, 15, 14, 7, 9, 8, 4, 6, 5, 10, 12, 11, 13];
    for (const index of order) expect(heap.release(chunks[index] ?? 0)).toBe(true);
    expect(heap.allocations()).toEqual([]);
    expect(heap.malloc(4096 - 16)).toBe(0x1010);
  });

  it('refuses what it has not given, or has taken back', () => {
    const heap = new SegmentHeap(0x1000, 4096);
    const chunk = heap.malloc(64);
    expect(heap.release(chunk + 16)).toBe(false);
    expect(heap.release(chunk)).toBe(true);
    expect(heap.release(chunk)).toBe(false);
  });

  it('gives nothing for more than it has, and an address for no bytes', () => {
    const heap = new SegmentHeap(0x1000, 4096);
    expect([heap.malloc(4096), heap.malloc(2 ** 63)]).toEqual([0, 0]);
    const [a, b] = [heap.malloc(0), heap.malloc(0)];
    expect(a).toBeGreaterThan(0);
    expect(b).not.toBe(a);
    expect(heap.release(a) && heap.release(b)).toBe(true);
    expect(heap.malloc(4096 - 16)).toBe(0x1010);
  });

  it('is one segment of its context, and part of snapshots, forks and hashes', () => {
    const node = new NodeMemory({});
    const space = node.createSpace();
    const first = space.openHeap().malloc(100);
    expect(space.find(first)?.bytes).toBe(8 * 2 ** 20);
    expect(space.openHeap()).toBe(space.openHeap());
    const fork = node.fork();
    const forked = fork.space(space.id)?.openHeap();
    expect(forked?.allocations()).toEqual(space.openHeap().allocations());
    expect(fork.hash()).toBe(node.hash());
    const second = space.openHeap().malloc(10);
    expect(fork.hash()).not.toBe(node.hash());
    expect(forked?.malloc(10)).toBe(second);
    expect(fork.hash()).toBe(node.hash());
  });

  it('goes back to a mark', () => {
    const heap = new SegmentHeap(0x1000, 4096);
    const kept = heap.malloc(100);
    const restore = heap.mark();
    heap.release(kept);
    heap.malloc(1000);
    restore();
    expect(heap.allocations()).toEqual([{ address: kept, bytes: 100 }]);
  });
});
