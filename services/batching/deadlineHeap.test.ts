import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DeadlineHeap, type HeapItem } from './index.js';

class Item implements HeapItem {
  order = 0;
  heapIndex = -1;
  constructor(public deadlineNs: number) {}
}

it('gives items by deadline, equals by arrival, through removals and expeditions', () => {
  const step = fc.record({ what: fc.nat(3), deadline: fc.nat(20), pick: fc.nat(1000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new DeadlineHeap<Item>();
      let model: Item[] = [];
      const sorted = () => [...model].sort((a, b) => a.deadlineNs - b.deadlineNs || a.order - b.order);
      for (const { what, deadline, pick } of steps) {
        const picked = model[pick % Math.max(model.length, 1)];
        if (what === 0 || picked === undefined) {
          const item = new Item(deadline);
          heap.push(item);
          model.push(item);
        } else if (what === 1) {
          const first = heap.pop();
          expect(first).toBe(sorted()[0]);
          model = model.filter((item) => item !== first);
        } else if (what === 2) {
          expect(heap.remove(picked)).toBe(true);
          expect(heap.remove(picked)).toBe(false);
          model = model.filter((item) => item !== picked);
        } else {
          picked.deadlineNs = Math.min(picked.deadlineNs, deadline);
          heap.expedite(picked);
        }
        expect(heap.size).toBe(model.length);
        expect(heap.first()).toBe(sorted()[0]);
      }
      for (const item of sorted()) expect(heap.pop()).toBe(item);
    }),
    { seed: 3, numRuns: 300 },
  );
});
