import { resolve } from 'node:path';
import { Refusal, launchRequest, type LaunchCommand } from '../driver/index.js';
import { NodeMemory, loadModule } from '../executor/index.js';
import { GpuError, type DeviceProfile } from '../gpu/index.js';
import {
  AllocationMap,
  analyzeKernel,
  compileValidator,
  type Cause,
  type SolverNotes,
  type ValidatedLaunch,
  type Validator,
  type Verdict,
  type WaysOfJudging,
} from '../idempotency/index.js';
import {
  LaunchSpecError,
  NodeSession,
  checkLaunchSpec,
  deviceOf,
  entryOf,
  placeSpec,
  readPtx,
  readSpec,
  type LaunchSpec,
  type PlacedBuffer,
} from '../launchSpec/index.js';
import { parseModule, type IrFunction, type IrModule } from '../ptx/index.js';

export interface JudgeOptions {
  /** A card in place of the spec's. */
  readonly device?: string;
  /** Default: by an interval for each access, and a refusal is not looked into further. */
  readonly ways?: WaysOfJudging;
  readonly allocationBound?: boolean;
  /** Answers of a solver, and where questions for it go. */
  readonly solver?: SolverNotes;
}

/** One instruction of the PTX and the bytes that it may touch in this launch. */
export interface JudgedAccess {
  readonly line: number;
  readonly rw: 'R' | 'W';
  /** First and last byte, as device addresses; null: any. */
  readonly lo: number | null;
  readonly hi: number | null;
}

/** What `gpu idempotent` prints. */
export interface SpecVerdict {
  readonly idempotent: boolean;
  /** Null of a launch that is idempotent. */
  readonly cause: Cause | null;
  readonly reason: string;
  /** False: there may be more accesses than are listed. */
  readonly complete: boolean;
  readonly accesses: readonly JudgedAccess[];
}

/** A launch that was judged, with all that an explanation needs. */
export interface JudgedLaunch {
  readonly spec: LaunchSpec;
  readonly ptx: string;
  readonly kernel: IrFunction;
  readonly buffers: readonly PlacedBuffer[];
  readonly launch: ValidatedLaunch;
  readonly validator: Validator;
  readonly verdict: Verdict;
}

/**
 * Places a spec's launch as `gpu run` would, and judges it without running it: memory has no contents here at all.
 * @param value the parsed JSON; @param baseDir where its relative `ptx` path starts
 * @throws LaunchSpecError for a bad spec, an unreadable file, or a launch that the device refuses
 */
export function judgeSpec(value: unknown, baseDir: string, options: JudgeOptions = {}): JudgedLaunch {
  const spec = checkLaunchSpec(value, options.device);
  const device = deviceOf(spec, baseDir);
  const ptx = readPtx(resolve(baseDir, spec.ptx));
  const entry = entryOf(ptx, spec);
  const module = parseModule(ptx, spec.ptx);
  const session = new NodeSession({ gpus: [device], fidelity: 'timing', costs: [] });
  try {
    const placed = place(session, spec, ptx, entry);
    const kernel = checkLaunch(spec, module, device, placed.launch.params);
    const { ways, allocationBound, solver } = options;
    const summary = analyzeKernel(module, kernel.name, solver && { solver });
    const validator = compileValidator(summary, {
      ...ways,
      ...(allocationBound === undefined ? {} : { allocationBound }),
    });
    const verdict = validator.explain(placed.launch);
    return { spec, ptx, kernel, ...placed, validator, verdict };
  } finally {
    session.node.close();
  }
}

/** Reads and judges a spec file; paths in it are relative to it. */
export function judgeSpecFile(path: string, options: JudgeOptions = {}): JudgedLaunch {
  return judgeSpec(readSpec(path), resolve(path, '..'), options);
}

/** The verdict with the intervals of every access that may happen. */
export function specVerdict({ validator, launch, verdict }: JudgedLaunch): SpecVerdict {
  const { isComplete, count, lo, hi, line, isWrite } = validator.intervals(launch);
  const found = new Map<string, JudgedAccess>();
  for (let index = 0; index < count; index++) {
    const [first, last] = [lo[index] ?? 0, hi[index] ?? 0];
    if (first > last) continue;
    const access: JudgedAccess = {
      line: line[index] ?? 0,
      rw: isWrite[index] === 1 ? 'W' : 'R',
      lo: Number.isFinite(first) ? first : null,
      hi: Number.isFinite(last) ? last : null,
    };
    found.set(JSON.stringify(access), access);
  }
  const accesses = [...found.values()].sort((a, b) => a.line - b.line || (a.lo ?? -1) - (b.lo ?? -1));
  const { idempotent, cause, text } = verdict;
  return {
    idempotent,
    cause: idempotent ? null : (cause ?? null),
    reason: text,
    complete: isComplete,
    accesses,
  };
}

function place(
  session: NodeSession,
  spec: LaunchSpec,
  ptx: string,
  kernel: IrFunction,
): { readonly launch: ValidatedLaunch; readonly buffers: readonly PlacedBuffer[] } {
  const { symbols = [] } = session.call('moduleLoad', { ptx, file: spec.ptx });
  const { params, buffers } = placeSpec(spec, kernel, {
    allocate: (bytes) => session.call('malloc', { bytes }).address ?? 0,
    write: () => undefined,
    free: (address) => session.call('free', { address }),
    createObject: (resource, sampler) => session.call('objectCreate', { resource, sampler }).handle ?? 0,
    symbols,
  });
  const allocations = new AllocationMap([
    ...buffers
      .filter((buffer) => !buffer.spec.freed)
      .map(({ address, bytes }) => ({ virtualAddress: address, bytes })),
    ...symbols.map(({ address, bytes }) => ({ virtualAddress: address, bytes })),
  ]);
  const launch = {
    params,
    shape: { grid: spec.grid, block: spec.block },
    symbols: new Map(symbols.map(({ name, address }) => [name, address])),
    allocations,
  };
  return { launch, buffers };
}

/** Refuses what the driver would, in its words. */
function checkLaunch(
  spec: LaunchSpec,
  module: IrModule,
  device: DeviceProfile,
  params: Uint8Array,
): IrFunction {
  const { grid, block, dynamicSharedBytes, cooperative, cluster, nonPortableCluster } = spec;
  const how = { cooperative, cluster, nonPortableCluster };
  const args = { module: 0, kernel: spec.kernel, grid, block, dynamicSharedBytes, params, ...how };
  const command: LaunchCommand = { ticket: 0, context: 0, stream: 0, op: 'launch', args };
  const loaded = loadModule(module, new NodeMemory({ isDeclaredOnly: true }).createSpace());
  const kernel = loaded.ir.functions.find((fn) => fn.isEntry && fn.name === spec.kernel);
  if (kernel === undefined)
    throw new LaunchSpecError('invalidSpec', `kernel: no entry '${spec.kernel}'`, 'kernel');
  // What the simulator cannot run there is a verdict on all the same: nothing is known of it.
  if (kernel.refusal !== undefined) return kernel;
  try {
    launchRequest(command, loaded, device, 0);
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof GpuError)) throw error;
    throw new LaunchSpecError('refused', error.message);
  }
  return kernel;
}
