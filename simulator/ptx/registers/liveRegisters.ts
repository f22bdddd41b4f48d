import { BitSet } from '../analysis/bitSet.js';
import type { MachineCode } from './machineCode.js';
import type { Region } from './regions.js';

/** What registers hold values at a region's ends. */
export interface LiveEnds {
  /** Of the registers that it reads or writes, those that hold a value when it begins and when it ends. */
  readonly into: readonly number[];
  readonly out: readonly number[];
  /** 32-bit registers of the values that only pass it by. */
  readonly passing: number;
}

interface Ends {
  readonly region: Region;
  readonly into: BitSet;
  readonly out: BitSet;
}

/** Liveness of the values that take registers, by regions. */
export function liveRegisters(
  regions: ReadonlyMap<number, Region>,
  code: MachineCode,
): ReadonlyMap<number, LiveEnds> {
  const { length } = code.widths;
  const ends = new Map<number, Ends>();
  for (const [start, region] of regions)
    ends.set(start, { region, into: new BitSet(length), out: new BitSet(length) });
  const backwards = [...ends.values()].reverse();
  for (let changed = true; changed;) {
    changed = false;
    for (const { region, into, out } of backwards) {
      for (const next of region.successors) {
        const after = ends.get(next);
        if (after !== undefined) out.addAll(after.into);
      }
      if (into.addAll(liveBefore(region, out, code))) changed = true;
    }
  }
  return new Map([...ends].map(([start, each]) => [start, liveEnds(each, code)]));
}

function liveBefore(region: Region, after: BitSet, { widths, writes }: MachineCode): BitSet {
  const live = after.copy();
  for (let at = region.ops.length - 1; at >= 0; at--) {
    const op = region.ops[at];
    if (op === undefined) continue;
    for (const register of op.defs) if (!op.guarded || writes[register] === 1) live.delete(register);
    for (const register of op.uses) if ((widths[register] ?? 0) > 0) live.add(register);
  }
  return live;
}

function liveEnds({ region, into, out }: Ends, { widths }: MachineCode): LiveEnds {
  const touched = new Set<number>();
  for (const op of region.ops) {
    for (const register of op.defs) touched.add(register);
    for (const register of op.uses) touched.add(register);
  }
  let passing = 0;
  for (let register = 0; register < widths.length; register++)
    if (into.has(register) && !touched.has(register)) passing += widths[register] ?? 0;
  return {
    into: [...touched].filter((register) => into.has(register)),
    out: [...touched].filter((register) => out.has(register)),
    passing,
  };
}
