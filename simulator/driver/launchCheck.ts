import type { BlockRange, LoadedModule } from '../executor/index.js';
import {
  blockFootprint,
  checkLaunch,
  estimateRegisters,
  occupancy,
  staticSharedBytes,
  type DeviceProfile,
  type LaunchRequest,
  type Occupancy,
} from '../gpu/index.js';
import type { IrFunction, IrModule } from '../ptx/index.js';
import type { DriverCommand } from './commands.js';
import { Refusal } from './refusal.js';

export type LaunchCommand = Extract<DriverCommand, { op: 'launch' }>;

/**
 * Holds a launch to the kernel and the device and makes it the device's request.
 * @throws Refusal, GpuError: what is wrong, with the field and the limit.
 */
export function launchRequest(
  command: LaunchCommand,
  module: LoadedModule,
  profile: DeviceProfile,
  leadNs: number,
  streamPriority: number,
): LaunchRequest {
  const { args } = command;
  const kernel = entryPoint(module, args.kernel);
  const shape = { grid: args.grid, block: args.block, dynamicSharedBytes: args.dynamicSharedBytes };
  const sharedBytes = staticSharedBytes(module.ir, kernel) + args.dynamicSharedBytes;
  const threads = args.block[0] * args.block[1] * args.block[2];
  const registers = estimateRegisters(kernel, profile, threads);
  checkLaunch(profile, kernel, shape, registers, sharedBytes);
  if (args.params.length !== kernel.parameterBytes) {
    throw new Refusal(
      'invalidLaunch',
      `params: ${args.params.length} bytes, but '${kernel.name}' takes ${kernel.parameterBytes}`,
    );
  }
  const block = blockFootprint(profile, threads, registers, sharedBytes);
  const fit = occupancy(profile, block);
  if (fit.blocksPerSm < 1) {
    throw new Refusal('invalidLaunch', `block: not one fits an SM; ${fit.boundBy} is the limit that binds`);
  }
  const controls = args.controls ?? {};
  const blocks = args.grid[0] * args.grid[1] * args.grid[2];
  const range = controls.blocks ?? { lo: 0, hi: blocks };
  if (
    !Number.isInteger(range.lo) ||
    !Number.isInteger(range.hi) ||
    range.lo < 0 ||
    range.lo > range.hi ||
    range.hi > blocks
  ) {
    throw new Refusal(
      'invalidLaunch',
      `controls.blocks: [${range.lo}, ${range.hi}) is not inside the grid's [0, ${blocks})`,
    );
  }
  const mask = tpcMask(controls.tpcMask, profile);
  if (args.cooperative === true) checkCooperative(profile, fit, range, blocks, mask);
  const priority = controls.priority ?? streamPriority;
  if (!Number.isInteger(priority)) {
    throw new Refusal('invalidLaunch', `controls.priority: ${priority} is not an integer`);
  }
  return {
    context: command.context,
    module: args.module,
    kernel: kernel.name,
    shape,
    params: args.params,
    cooperative: args.cooperative === true ? true : undefined,
    lo: range.lo,
    hi: range.hi,
    tpcMask: mask,
    priority,
    reportBlocks: controls.reportBlocks ?? false,
    block,
    registers,
    sharedBytes: block.sharedBytes,
    leadNs,
  };
}

/** Blocks that wait for one another must all be there: the whole grid, on the SMs that it may use, at once. */
function checkCooperative(
  profile: DeviceProfile,
  fit: Occupancy,
  range: BlockRange,
  blocks: number,
  mask: bigint,
): void {
  if (range.lo !== 0 || range.hi !== blocks) {
    throw new Refusal(
      'invalidLaunch',
      `controls.blocks: [${range.lo}, ${range.hi}) of ${blocks}; a cooperative launch runs all blocks of its grid`,
    );
  }
  const sms = mask < 0n ? profile.sms : countBits(mask) * profile.smsPerTpc;
  const most = fit.blocksPerSm * sms;
  if (blocks <= most) return;
  throw new Refusal(
    'invalidLaunch',
    `grid: ${blocks} blocks; a cooperative launch must be on the device all at once, which holds ${most} such blocks ` +
      `(${fit.blocksPerSm} on each of ${sms} SMs, bound by ${fit.boundBy})`,
  );
}

function countBits(mask: bigint): number {
  let bits = 0;
  for (let rest = mask; rest > 0n; rest >>= 1n) bits += Number(rest & 1n);
  return bits;
}

/** A module's kernel of this name. */
export function entryNamed(module: LoadedModule, name: string): IrFunction | undefined {
  let entries = entriesOf.get(module.ir);
  if (entries === undefined) {
    entries = new Map();
    for (const candidate of module.ir.functions) {
      if (candidate.isEntry && !entries.has(candidate.name)) entries.set(candidate.name, candidate);
    }
    entriesOf.set(module.ir, entries);
  }
  return entries.get(name);
}

/** Kernels by name: every launch asks. */
const entriesOf = new WeakMap<IrModule, Map<string, IrFunction>>();

function entryPoint(module: LoadedModule, name: string): IrFunction {
  const kernel = entryNamed(module, name);
  if (kernel === undefined) {
    const names = module.ir.functions
      .filter((candidate) => candidate.isEntry)
      .map((candidate) => candidate.name);
    throw new Refusal(
      'notFound',
      `kernel: no entry '${name}' in ${module.ir.file}; there are: ${names.join(', ') || 'none'}`,
    );
  }
  if (kernel.refusal !== undefined) {
    const { line, instruction, reason } = kernel.refusal;
    throw new Refusal(
      'invalidLaunch',
      `kernel: '${name}' cannot run, ${module.ir.file}:${line}: '${instruction}': ${reason}`,
    );
  }
  return kernel;
}

function tpcMask(text: string | undefined, profile: DeviceProfile): bigint {
  if (text === undefined) return -1n;
  if (!/^\d{1,80}$/.test(text)) {
    throw new Refusal('invalidLaunch', `controls.tpcMask: '${text}' is not a decimal bit mask`);
  }
  const tpcs = profile.sms / profile.smsPerTpc;
  const all = (1n << BigInt(tpcs)) - 1n;
  const mask = BigInt(text);
  if (mask === 0n || (mask & ~all) !== 0n) {
    throw new Refusal(
      'invalidLaunch',
      `controls.tpcMask: '${text}' must name one or more of the ${tpcs} TPCs of ${profile.name} and no other`,
    );
  }
  return mask;
}
