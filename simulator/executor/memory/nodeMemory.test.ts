import { describe, expect, it } from 'vitest';
import { MemoryError, NodeMemory } from './index.js';

const MIB = 2 ** 20;

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof MemoryError) return error.code;
    throw error;
  }
  return 'none';
}

describe('NodeMemory', () => {
  it('maps zeroed, aligned segments with gaps between them', () => {
    const space = new NodeMemory({ backingBytes: 64 * MIB }).createSpace();
    const a = space.map(1000, 'readWrite');
    const b = space.map(8, 'read');
    expect(a.virtualAddress % 256).toBe(0);
    expect(b.virtualAddress).toBeGreaterThan(a.virtualAddress + a.bytes + 4000);
    expect(space.view(a.virtualAddress, 1000).every((byte) => byte === 0)).toBe(true);
    expect(space.find(a.virtualAddress + 999)).toBe(a);
    expect(space.find(a.virtualAddress + 1000)).toBeUndefined();
    expect(space.find(a.virtualAddress - 1)).toBeUndefined();
  });

  it('zeroes reused backing and does not reuse the address', () => {
    const space = new NodeMemory({ backingBytes: 64 * MIB }).createSpace();
    const a = space.map(4096, 'readWrite');
    space.view(a.virtualAddress, 4096).fill(7);
    space.unmap(a.virtualAddress);
    const b = space.map(4096, 'readWrite');
    expect(b.offset).toBe(a.offset);
    expect(b.virtualAddress).not.toBe(a.virtualAddress);
    expect(space.view(b.virtualAddress, 4096).every((byte) => byte === 0)).toBe(true);
    expect(codeOf(() => space.view(a.virtualAddress, 1))).toBe('outOfBounds');
  });

  it('refuses by code', () => {
    const space = new NodeMemory({ backingBytes: 16 * MIB }).createSpace();
    const a = space.map(100, 'readWrite');
    expect(codeOf(() => space.view(a.virtualAddress, 101))).toBe('outOfBounds');
    expect(codeOf(() => space.unmap(a.virtualAddress + 1))).toBe('unmapped');
    expect(codeOf(() => space.map(0, 'read'))).toBe('invalidSize');
    expect(codeOf(() => space.map(1.5, 'read'))).toBe('invalidSize');
    expect(codeOf(() => space.map(13 * MIB, 'read'))).toBe('outOfBackingMemory');
    expect(codeOf(() => new NodeMemory({ backingBytes: 5e9 }))).toBe('invalidSize');
  });

  it('coalesces what is freed, whatever the order', () => {
    const space = new NodeMemory({ backingBytes: 16 * MIB }).createSpace();
    const pieces = Array.from({ length: 11 }, () => space.map(MIB, 'readWrite'));
    for (const index of [5, 3, 4, 0, 10, 1, 2, 9, 7, 8, 6]) {
      const piece = pieces[index];
      if (piece !== undefined) space.unmap(piece.virtualAddress);
    }
    expect(space.map(11 * MIB, 'readWrite').bytes).toBe(11 * MIB);
  });

  it('keeps the contents of every segment while it grows', () => {
    const space = new NodeMemory().createSpace();
    const first = space.map(MIB, 'readWrite');
    const view = space.view(first.virtualAddress, MIB);
    view.fill(3);
    space.map(64 * MIB, 'readWrite');
    expect(space.view(first.virtualAddress, MIB)[MIB - 1]).toBe(3);
    view[0] = 9;
    expect(space.view(first.virtualAddress, 1)[0]).toBe(9);
  });

  it('forks into nodes that go on alike and apart', () => {
    const node = new NodeMemory({ backingBytes: 64 * MIB });
    const space = node.createSpace(2);
    node.createSpace();
    const a = space.map(5000, 'readWrite');
    space.view(a.virtualAddress, 5000).fill(1);
    const forks = [node.fork(), NodeMemory.fromSnapshot(structuredClone(node.snapshot()))];
    expect(forks.map((fork) => fork.hash())).toEqual([node.hash(), node.hash()]);
    const next = forks.map((fork) => {
      const own = fork.space(space.id);
      const segment = own?.map(100, 'read');
      own?.view(a.virtualAddress, 1).fill(2);
      return segment?.virtualAddress;
    });
    expect(next[0]).toBe(next[1]);
    expect(forks[0]?.hash()).toBe(forks[1]?.hash());
    expect(forks[0]?.hash()).not.toBe(node.hash());
  });

  it('restores in place', () => {
    const node = new NodeMemory({ backingBytes: 64 * MIB });
    const space = node.createSpace();
    const a = space.map(5000, 'readWrite');
    const before = node.snapshot();
    const hash = node.hash();
    space.view(a.virtualAddress, 10).fill(1);
    space.map(MIB, 'readWrite');
    node.createSpace().map(1, 'read');
    node.restore(before);
    expect(node.hash()).toBe(hash);
    expect(node.space(space.id)).toBe(space);
    expect(node.spaces()).toHaveLength(1);
    expect(space.segmentTable().count).toBe(1);
  });

  it('keeps the windows of different GPUs apart', () => {
    const node = new NodeMemory({ backingBytes: 64 * MIB });
    const addresses = [0, 1, 31].map((gpu) => node.createSpace(gpu).map(1, 'read').virtualAddress);
    expect(new Set(addresses).size).toBe(3);
    expect(Math.max(...addresses)).toBeLessThan(2 ** 47);
  });
});
