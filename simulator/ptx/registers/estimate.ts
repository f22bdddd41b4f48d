import { isCall, isHostCall } from '../isa/index.js';
import type { IrFunction } from '../ir.js';
import { liveRegisters } from './liveRegisters.js';
import { machineCode } from './machineCode.js';
import { formRegions } from './regions.js';
import { regionPressure } from './schedule.js';
import { unrolling } from './unrolling.js';
import type { RegionInput } from './valueGraph.js';

/** The card that code is assembled for, as far as it matters to registers. */
export interface RegisterTarget {
  readonly registersPerSm: number;
  readonly threadsPerSm: number;
  /** Most that a thread may have. */
  readonly mostRegisters: number;
  /** Whether warps have registers, and arithmetic, for what all their threads share (since sm_75). */
  readonly uniformRegisters: boolean;
}

/** sm_90. */
const HOPPER: RegisterTarget = {
  registersPerSm: 65_536,
  threadsPerSm: 2048,
  mostRegisters: 255,
  uniformRegisters: true,
};

/** Stack pointer, two that the hardware keeps, and what alignment of pairs wastes. */
const OWN_REGISTERS = 6;
/** Where values do not fit, the assembler takes this much more than they need, for speed. */
const LEEWAY = 1.25;
/** Registers of a thread that calls by the convention: arguments, return address and what calls may change. */
const CONVENTION = 24;
const LEAST_FREE = 32;
/** Registers are given to threads of a launch bound in units of this many. */
const UNIT = 8;

/**
 * Registers a thread takes on the card. The function's operations are brought near to what the machine executes, ordered as
 * the assembler does, and the values that are then live at once are counted. The assembler hoists loads and starts chains
 * early within the registers that leave room for every warp of an SM, and no further. Launch bounds and `.maxnreg` cap it.
 */
export function estimateRegistersPerThread(fn: IrFunction, target: RegisterTarget = HOPPER): number {
  return Math.min(needed(fn, target), registerCap(fn, target));
}

/** Registers that the assembler spends on speed alone: those that leave room for all threads of an SM, and 32 at least. */
function freeRegisters({ registersPerSm, threadsPerSm, mostRegisters }: RegisterTarget): number {
  const perThread = Math.floor(registersPerSm / threadsPerSm / UNIT) * UNIT;
  return Math.min(Math.max(LEAST_FREE, perThread), mostRegisters);
}

/** The most registers that a function's directives, and the card, leave to a thread. */
function registerCap({ directives }: IrFunction, { registersPerSm, mostRegisters }: RegisterTarget): number {
  const threads = directives['reqntid'] ?? directives['maxntid'] ?? [];
  const blocks = Math.max(1, directives['minnctapersm']?.[0] ?? 1);
  const threadsTogether = threads.reduce((all, each) => all * each, 1) * blocks;
  const bound =
    threads.length === 0
      ? mostRegisters
      : Math.floor(registersPerSm / Math.max(32, threadsTogether) / UNIT) * UNIT;
  return Math.max(UNIT, Math.min(directives['maxnreg']?.[0] ?? mostRegisters, bound, mostRegisters));
}

function needed(fn: IrFunction, target: RegisterTarget): number {
  const code = machineCode(fn, target.uniformRegisters);
  const regions = formRegions(fn, code);
  const live = liveRegisters(regions, code);
  const { widths, writes } = code;
  const inputs = [...regions].map(([start, region]): RegionInput => {
    const copies = unrolling(fn, start, region, code);
    const ops = copies === 1 ? region.ops : Array.from({ length: copies }, () => region.ops).flat();
    const ends = live.get(start) ?? { into: [], out: [], passing: 0 };
    return { ops, widths, writes, ends, loops: region.successors.includes(start) };
  });
  const pressureWithin = (budget: number): number =>
    inputs.reduce((most, input) => Math.max(most, regionPressure(input, budget)), 0);
  const free = freeRegisters(target) - OWN_REGISTERS;
  let pressure = pressureWithin(free);
  if (pressure > free) pressure = pressureWithin(Math.round(pressure * LEEWAY));
  return Math.max(pressure + OWN_REGISTERS, callsByConvention(fn) ? CONVENTION : 0);
}

function callsByConvention(fn: IrFunction): boolean {
  return fn.instructions.some(
    ({ opcode, modifiers }) => isCall(opcode) || isHostCall(opcode) || modifiers.includes('stackOverflow'),
  );
}
