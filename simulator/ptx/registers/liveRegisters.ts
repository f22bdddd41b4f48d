import type { MachineCode } from './machineCode.js';
import type { Region } from './regions.js';

/** Registers that hold a value at the start and at the end of a region. */
export interface LiveEnds {
  readonly into: readonly number[];
  readonly out: readonly number[];
}

/** Liveness of the values that take registers, by regions. */
export function liveRegisters(
  regions: ReadonlyMap<number, Region>,
  code: MachineCode,
): ReadonlyMap<number, LiveEnds> {
  const into = new Map([...regions.keys()].map((start) => [start, new Set<number>()]));
  const out = new Map([...regions.keys()].map((start) => [start, new Set<number>()]));
  const backwards = [...regions].reverse();
  for (let changed = true; changed;) {
    changed = false;
    for (const [start, region] of backwards) {
      const [before, after] = [into.get(start), out.get(start)];
      if (before === undefined || after === undefined) continue;
      for (const next of region.successors) for (const register of into.get(next) ?? []) after.add(register);
      const size = before.size;
      for (const register of liveBefore(region, after, code)) before.add(register);
      changed ||= before.size > size;
    }
  }
  return new Map(
    [...regions.keys()].map((start) => [
      start,
      { into: [...(into.get(start) ?? [])], out: [...(out.get(start) ?? [])] },
    ]),
  );
}

function liveBefore(
  region: Region,
  after: ReadonlySet<number>,
  { widths, writes }: MachineCode,
): Set<number> {
  const live = new Set(after);
  for (let at = region.ops.length - 1; at >= 0; at--) {
    const op = region.ops[at];
    if (op === undefined) continue;
    for (const register of op.defs) if (!op.guarded || writes[register] === 1) live.delete(register);
    for (const register of op.uses) if ((widths[register] ?? 0) > 0) live.add(register);
  }
  return live;
}
