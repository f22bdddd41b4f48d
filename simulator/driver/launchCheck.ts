import { clusterBlocks } from '../executor/index.js';
import type { BlockRange, LoadedModule } from '../executor/index.js';
import type { DeviceProfile, LaunchRequest } from '../gpu/index.js';
import type { IrFunction, IrModule } from '../ptx/index.js';
import type { KnownCost } from './launchCosts.js';
import { checkLaunchClass, type LaunchCommand } from './launchClasses.js';
import { knownFit, launchFit, type LaunchFit } from './launchFit.js';
import { Refusal } from './refusal.js';

/**
 * Holds a launch to the kernel and the device and makes it the device's request, but for what is known when it starts.
 * @param costOf what it costs where nothing runs
 * @throws Refusal, GpuError: what is wrong, with the field and the limit.
 */
export function launchRequest(
  { args, context }: LaunchCommand,
  module: LoadedModule,
  profile: DeviceProfile,
  streamPriority: number,
  costOf?: (kernel: IrFunction, fit: LaunchFit) => KnownCost,
): LaunchRequest {
  const known = knownFit(args, module, profile);
  const kernel = known?.kernel ?? entryPoint(module, args.kernel);
  const fit = known?.fit ?? launchFit(args, module, kernel, profile);
  if (args.params.length !== kernel.parameterBytes) {
    throw new Refusal(
      'invalidLaunch',
      `params: ${args.params.length} bytes, but '${kernel.name}' takes ${kernel.parameterBytes}`,
    );
  }
  const { controls } = args;
  const range = controls?.blocks;
  if (range !== undefined) checkRange(range, fit);
  const lo = range?.lo ?? 0;
  const hi = range?.hi ?? fit.blocks;
  const mask = tpcMask(controls?.tpcMask, profile);
  if (args.cooperative === true) checkCooperative(profile, fit, lo, hi, mask);
  const priority = controls?.priority ?? streamPriority;
  if (!Number.isInteger(priority)) {
    throw new Refusal('invalidLaunch', `controls.priority: ${priority} is not an integer`);
  }
  checkLaunchClass(controls?.launchClass, 'controls.launchClass');
  const cost = costOf?.(kernel, fit);
  return {
    context,
    module: args.module,
    kernel: kernel.name,
    shape: fit.shape,
    params: args.params,
    cooperative: args.cooperative === true ? true : undefined,
    lo,
    hi,
    tpcMask: mask,
    priority,
    reportBlocks: controls?.reportBlocks ?? false,
    block: fit.block,
    registers: fit.registers,
    cost: cost?.cost,
    sharedBytes: fit.block.sharedBytes,
    leadNs: 0,
    known: cost?.known,
    contextBytes: cost?.contextBytes,
  };
}

function checkRange({ lo, hi }: BlockRange, { blocks, shape }: LaunchFit): void {
  const cluster = clusterBlocks(shape);
  if (Number.isInteger(lo) && Number.isInteger(hi) && lo >= 0 && lo <= hi && hi <= blocks) {
    if (lo % cluster === 0 && hi % cluster === 0) return;
    throw new Refusal(
      'invalidLaunch',
      `controls.blocks: [${lo}, ${hi}) cuts a cluster; both must be multiples of its ${cluster} blocks`,
    );
  }
  throw new Refusal(
    'invalidLaunch',
    `controls.blocks: [${lo}, ${hi}) is not inside the grid's [0, ${blocks})`,
  );
}

/** Blocks that wait for one another must all be there: the whole grid, on the SMs that it may use, at once. */
function checkCooperative(
  profile: DeviceProfile,
  { blocks, occupancy }: LaunchFit,
  lo: number,
  hi: number,
  mask: bigint,
): void {
  if (lo !== 0 || hi !== blocks) {
    throw new Refusal(
      'invalidLaunch',
      `controls.blocks: [${lo}, ${hi}) of ${blocks}; a cooperative launch runs all blocks of its grid`,
    );
  }
  const sms = mask < 0n ? profile.sms : countBits(mask) * profile.smsPerTpc;
  const most = occupancy.blocksPerSm * sms;
  if (blocks <= most) return;
  throw new Refusal(
    'invalidLaunch',
    `grid: ${blocks} blocks; a cooperative launch must be on the device all at once, which holds ${most} such blocks ` +
      `(${occupancy.blocksPerSm} on each of ${sms} SMs, bound by ${occupancy.boundBy})`,
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
