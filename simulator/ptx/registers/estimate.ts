import type { IrFunction } from '../ir.js';
import { machineCode, type MachineCode } from './machineOps.js';
import { formRegions, unrolling, type Region } from './regions.js';
import { regionPressure } from './schedule.js';

/**
 * Registers of values that the assembler spends freely: with what it keeps itself, 32, the most that leaves room for
 * every warp of an SM. It hoists loads and starts chains early within them, and no further.
 */
const FREE_VALUES = 26;
/** Stack pointer, two that the hardware keeps, and what alignment of pairs wastes. */
const OWN_REGISTERS = 6;
/** Where values do not fit, the assembler takes this much more than they need, for speed. */
const LEEWAY = 1.25;
/** Registers of a thread that calls by the convention: arguments, return address and what calls may change. */
const CONVENTION = 24;
/** Registers of a multiprocessor, as the assembler takes them to be shared by the blocks of `.minnctapersm`. */
const REGISTERS_PER_SM = 65_536;
const MOST_REGISTERS = 255;
const UNIT = 8;

/**
 * Registers a thread takes on the card. The function's operations are brought near to what the machine executes, ordered as
 * the assembler does, and the values that are then live at once are counted. Launch bounds and `.maxnreg` cap it.
 */
export function estimateRegistersPerThread(fn: IrFunction): number {
  return Math.min(needed(fn), registerCap(fn));
}

/** The most registers that a function's directives leave to a thread. */
function registerCap({ directives }: IrFunction): number {
  const product = (values: readonly number[]): number => values.reduce((all, each) => all * each, 1);
  const threads = directives['reqntid'] ?? directives['maxntid'];
  const blocks = directives['minnctapersm']?.[0] ?? 1;
  const bound =
    threads === undefined
      ? MOST_REGISTERS
      : Math.floor(REGISTERS_PER_SM / (Math.max(32, product(threads)) * Math.max(1, blocks)) / UNIT) * UNIT;
  return Math.max(UNIT, Math.min(directives['maxnreg']?.[0] ?? MOST_REGISTERS, bound, MOST_REGISTERS));
}

function needed(fn: IrFunction): number {
  const code = machineCode(fn);
  const regions = formRegions(fn, code);
  const live = liveRegisters(regions, code);
  const pressureWithin = (budget: number): number => {
    let most = 0;
    for (const [start, region] of regions) {
      const times = unrolling(fn, start, region, code);
      const ops = times === 1 ? region.ops : Array.from({ length: times }, () => region.ops).flat();
      const { into, out } = live.get(start) ?? { into: [], out: [] };
      const loops = region.successors.includes(start);
      const { widths, writes } = code;
      most = Math.max(
        most,
        regionPressure({ ops, widths, writes, liveIn: into, liveOut: out, loops }, budget),
      );
    }
    return most;
  };
  let pressure = pressureWithin(FREE_VALUES);
  if (pressure > FREE_VALUES) pressure = pressureWithin(Math.round(pressure * LEEWAY));
  return Math.max(pressure + OWN_REGISTERS, callsByConvention(fn) ? CONVENTION : 0);
}

function callsByConvention(fn: IrFunction): boolean {
  return fn.instructions.some(
    ({ opcode, modifiers }) =>
      /^(call|vprintf|assertfail|malloc|free)$/.test(opcode) || modifiers.includes('stackOverflow'),
  );
}

interface LiveEnds {
  readonly into: readonly number[];
  readonly out: readonly number[];
}

function liveRegisters(regions: ReadonlyMap<number, Region>, code: MachineCode): Map<number, LiveEnds> {
  const into = new Map<number, Set<number>>();
  const out = new Map<number, Set<number>>();
  for (const start of regions.keys()) {
    into.set(start, new Set());
    out.set(start, new Set());
  }
  const order = [...regions.keys()].reverse();
  for (let changed = true; changed;) {
    changed = false;
    for (const start of order) {
      const region = regions.get(start);
      const [before, after] = [into.get(start), out.get(start)];
      if (region === undefined || before === undefined || after === undefined) continue;
      for (const next of region.successors) for (const register of into.get(next) ?? []) after.add(register);
      const live = new Set(after);
      for (let at = region.ops.length - 1; at >= 0; at--) {
        const op = region.ops[at];
        if (op === undefined) continue;
        if (!op.guarded) for (const register of op.defs) live.delete(register);
        else for (const register of op.defs) if (code.writes[register] === 1) live.delete(register);
        for (const register of op.uses) if ((code.widths[register] ?? 0) > 0) live.add(register);
      }
      for (const register of live) {
        if (before.has(register)) continue;
        before.add(register);
        changed = true;
      }
    }
  }
  return new Map(
    [...regions.keys()].map((start) => [
      start,
      { into: [...(into.get(start) ?? [])], out: [...(out.get(start) ?? [])] },
    ]),
  );
}
