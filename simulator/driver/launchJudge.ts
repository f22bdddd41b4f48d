import type { LaunchShape, LoadedModule } from '../executor/index.js';
import type { LaunchVerdict } from '../scheduling/index.js';
import type { IrFunction } from '../ptx/index.js';
import type { ContextTable } from './contextTable.js';
import type { ContextState, JudgedLaunch } from './driverState.js';
import { anywhere, type Footprint } from './footprint.js';
import { entryNamed } from './launchCheck.js';
import type { LaunchCommand } from './launchClasses.js';
import { JudgedLaunches } from './judgedLaunches.js';
import { launchClassOf } from './launchClasses.js';

/** Who tells whether a launch may be killed and run again, from nothing but its arguments and dimensions. */
export interface VerdictSource {
  judge(module: LoadedModule, kernel: IrFunction, launch: JudgedTerms): SourcedVerdict;
}

export interface JudgedTerms {
  /** SHA-256 of the module, as costs are kept by it. */
  readonly identity: string;
  readonly params: Uint8Array;
  readonly shape: LaunchShape;
  readonly symbols: ReadonlyMap<string, number>;
}

export interface SourcedVerdict extends LaunchVerdict {
  /** Of the submitting host thread. */
  readonly costNs: number;
  /** Of it where the same launch was judged before, and what came out was kept. */
  readonly keptNs: number;
  /** Bytes that the launch may touch, inclusive; undefined: any. The arrays are read at once. */
  readonly ranges?: AccessRanges | undefined;
}

export interface AccessRanges {
  readonly isComplete: boolean;
  readonly count: number;
  /** lo > hi: it never happens. */
  readonly lo: ArrayLike<number>;
  readonly hi: ArrayLike<number>;
  /** 1: a write. */
  readonly isWrite: ArrayLike<number>;
}

/** Judges launches while the host submits them. Those of class `critical` are never preempted, and so not looked at. */
export class LaunchJudge {
  constructor(
    private readonly contexts: ContextTable,
    private readonly verdicts: VerdictSource,
    /** Critical ones too: faults strike them as others. */
    private readonly judgesCritical = false,
  ) {}

  /** Undefined of launches that are not looked at, also because they will be refused. */
  judge(
    command: LaunchCommand,
    context: ContextState,
  ): (JudgedLaunch & { readonly costNs: number }) | undefined {
    if (context.fault !== undefined) return undefined;
    if (!this.judgesCritical && launchClassOf(command, context) === 'critical') return undefined;
    const { grid, block, dynamicSharedBytes, params } = command.args;
    const identity = context.modules.get(command.args.module)?.identity;
    if (identity === undefined) return undefined;
    const module = this.contexts.requireModule(context, command.args.module);
    const kernel = entryNamed(module, command.args.kernel);
    if (kernel === undefined || params.length !== kernel.parameterBytes) return undefined;
    const { idempotent, of, cause, costNs, keptNs, ranges } = this.verdicts.judge(module, kernel, {
      identity,
      params,
      shape: { grid, block, dynamicSharedBytes },
      symbols: module.symbols,
    });
    const footprint = footprintOf(context.id, ranges, constantsOf(module));
    // A part of the grid does a part of what all of it does.
    const verdict = { idempotent: idempotent && !footprint.isAny, of, cause };
    const isKept = cause !== 'pending' && new JudgedLaunches(context.judged).keep(command);
    return { verdict, footprint, costNs: isKept ? keptNs : costNs };
  }
}

interface Constants {
  readonly lo: readonly number[];
  readonly hi: readonly number[];
}

const constants = new WeakMap<LoadedModule, Constants>();

/** Where a module's constants lie: no verdict asks for them, since kernels only read them, but the host may write there. */
function constantsOf(module: LoadedModule): Constants {
  let known = constants.get(module);
  if (known === undefined) {
    const found = module.ir.variables.flatMap(({ name, space, bytes }) => {
      const address = space === 'const' ? module.symbols.get(name) : undefined;
      return address === undefined || bytes === 0 ? [] : [{ lo: address, hi: address + bytes - 1 }];
    });
    known = { lo: found.map(({ lo }) => lo), hi: found.map(({ hi }) => hi) };
    constants.set(module, known);
  }
  return known;
}

function footprintOf(context: number, ranges: AccessRanges | undefined, read: Constants): Footprint {
  if (ranges?.isComplete !== true) return anywhere(context);
  const lo: number[] = [...read.lo];
  const hi: number[] = [...read.hi];
  const isWrite: boolean[] = read.lo.map(() => false);
  for (let index = 0; index < ranges.count; index++) {
    if (!(ranges.lo[index] <= ranges.hi[index])) continue;
    lo.push(ranges.lo[index]);
    hi.push(ranges.hi[index]);
    isWrite.push(ranges.isWrite[index] === 1);
  }
  return { context, isAny: false, lo, hi, isWrite };
}
