import type { KernelSummary, SummaryAccess } from '../summary.js';

/** Accesses that always have the same interval, as one. */
export interface AccessSlot {
  readonly access: SummaryAccess;
  readonly isWrite: boolean;
  /** Most bytes of those in it. */
  readonly bytes: number;
}

export interface AccessSlots {
  readonly slots: readonly AccessSlot[];
  /** Slot of each access of the summary. */
  readonly slotOf: readonly number[];
}

/** Unrolled copies and loads of parts often name one address under the same conditions: they are judged once. */
export function accessSlots({ accesses }: KernelSummary): AccessSlots {
  const known = new Map<string, number>();
  const slots: { access: SummaryAccess; isWrite: boolean; bytes: number }[] = [];
  const slotOf = accesses.map((access) => {
    const { kind, address, conditions, narrowed, variables, bases, bytes } = access;
    const key = JSON.stringify([kind, address, conditions, narrowed, variables, bases]);
    const found = known.get(key);
    if (found === undefined) {
      known.set(key, slots.length);
      return slots.push({ access, isWrite: kind === 'write', bytes }) - 1;
    }
    const slot = slots[found];
    if (slot !== undefined) slot.bytes = Math.max(slot.bytes, bytes);
    return found;
  });
  return { slots, slotOf };
}
