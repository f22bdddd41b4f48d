import { createHash } from 'node:crypto';
import type { LoadedModule } from '../executor/index.js';
import type { IrFunction, IrModule } from '../ptx/index.js';
import { analyzeKernel } from './analysis/index.js';
import type { Cause, KernelClass, KernelSummary } from './summary.js';
import {
  compileValidator,
  type ValidatedLaunch,
  type Validator,
  type ValidatorOptions,
  type VerdictCode,
} from './validator/index.js';

/** Host time that a verdict takes of the submitting thread in simulated time, in nanoseconds. */
export interface VerdictCosts {
  /** Of a kernel whose class decides, or that is not analysed yet, and of a launch whose verdict was kept. */
  readonly kernelNs: number;
  /** Of a launch that is looked at, with up to `freeAccesses` accesses. */
  readonly launchNs: number;
  readonly freeAccesses: number;
  /** Of each access more. */
  readonly accessNs: number;
  readonly mostNs: number;
}

/**
 * Medians of this validator's own calls by number of accesses (`npm run bench:idempotency`): 0.09 µs up to two, 0.11 up to four,
 * 0.13 up to eight, 0.23 up to sixteen, 0.42 up to 32; looking up a class is a look at the kernel's record. PICKER's are below
 * 1 µs for 81 to 100 % of launches and below 5 µs for all (section 5.4 of the paper). They are constants of the model: nothing
 * that a run measures enters simulated time.
 */
export const VERDICT_COSTS: VerdictCosts = {
  kernelNs: 50,
  launchNs: 100,
  freeAccesses: 4,
  accessNs: 12,
  mostNs: 5_000,
};

/** What analysis found of a kernel, by the content of its code. Plain data, but for code. */
export interface KernelAnalysis {
  readonly key: string;
  readonly summary: KernelSummary;
  /** Of `compileVerdicts`, where another thread made it; without it the first launch that is judged waits for that. */
  readonly code?: VerdictCode;
}

export interface VerdictLibraryOptions extends ValidatorOptions {
  readonly costs?: VerdictCosts;
  /** Nanoseconds of host time, for the latencies in `metrics`; without it none are taken. */
  readonly stopwatchNs?: () => number;
}

export interface LibraryVerdict {
  readonly idempotent: boolean;
  /** What decided: `pending`, the kernel is not analysed yet; `kernel`, its class; `launch`, arguments and dimensions. */
  readonly kind: 'pending' | 'kernel' | 'launch';
  /** Of a refusal that is not pending; RO stands for MO too, which only enumeration tells apart. */
  readonly cause?: Cause;
  /** What the verdict takes of the submitting thread in simulated time. */
  readonly costNs: number;
  /** For the intervals of the launch; undefined while pending. */
  readonly validator?: Validator;
}

export interface VerdictMetrics {
  /** Verdicts that a launch may be killed. */
  readonly idempotent: number;
  /** Refusals of kernels that were not analysed yet. */
  readonly pending: number;
  /** Other refusals by cause. */
  readonly refused: Readonly<Partial<Record<Cause, number>>>;
  /** Kernels analysed, by class. */
  readonly kernels: Readonly<Record<KernelClass, number>>;
  /** Of verdicts on the host; 0 without a stopwatch. */
  readonly latency: VerdictLatency;
}

export interface VerdictLatency {
  readonly count: number;
  readonly totalNs: number;
  readonly mostNs: number;
  /** How many took up to each of `VERDICT_LATENCY_BOUNDS_NS` and more than the one before; the last: more than all. */
  readonly counts: readonly number[];
}

export const VERDICT_LATENCY_BOUNDS_NS: readonly number[] = [
  100, 250, 500, 1_000, 2_500, 5_000, 10_000, 100_000, 1_000_000,
];

interface Entry {
  readonly key: string;
  readonly ir: IrModule;
  readonly kernel: string;
  validator?: Validator;
  isRequested?: true;
}

/**
 * Verdicts about launches of any kernel. A kernel is known by the content of its code; one that is seen for the first time is
 * put in a queue, and its launches are refused until `analyseNext` has come to it, which whoever drives the simulation calls whenever
 * there is time, or until somebody who has analysed it elsewhere gives what was found.
 */
export class VerdictLibrary {
  private readonly byContent = new Map<string, Entry>();
  private readonly byKernel = new WeakMap<IrFunction, Entry>();
  private readonly queue: Entry[] = [];
  private readonly costs: VerdictCosts;
  private readonly counts = { idempotent: 0, pending: 0 };
  private readonly refused: Partial<Record<Cause, number>> = {};
  private readonly classes: Record<KernelClass, number> = { idempotent: 0, nonIdempotent: 0, conditional: 0 };
  private readonly latency = {
    count: 0,
    totalNs: 0,
    mostNs: 0,
    counts: VERDICT_LATENCY_BOUNDS_NS.map(() => 0).concat(0),
  };
  /** In the order in which they came; by key, also of kernels that no module here has yet. */
  private readonly given = new Map<string, Omit<KernelAnalysis, 'key'>>();

  constructor(private readonly options: VerdictLibraryOptions = {}) {
    this.costs = options.costs ?? VERDICT_COSTS;
  }

  /** Whether a launch may be killed and run again; false while its kernel is not analysed. */
  judge(module: LoadedModule, kernel: IrFunction, launch: ValidatedLaunch): LibraryVerdict {
    const { validator } = this.entryOf(module.ir, kernel);
    const { kernelNs } = this.costs;
    if (validator === undefined) {
      this.counts.pending++;
      return { idempotent: false, kind: 'pending', costNs: kernelNs };
    }
    const idempotent = this.timed(validator, launch);
    const isByKernel = validator.summary.class !== 'conditional';
    const verdict = {
      kind: isByKernel ? 'kernel' : 'launch',
      costNs: isByKernel ? kernelNs : this.launchCostNs(validator.summary.accesses.length),
      validator,
    } as const;
    if (idempotent) {
      this.counts.idempotent++;
      return { ...verdict, idempotent };
    }
    const cause = validator.cause(launch);
    this.refused[cause] = (this.refused[cause] ?? 0) + 1;
    return { ...verdict, idempotent, cause };
  }

  /** Whether every launch of a kernel may be killed: all that is known without looking at launches. */
  isIdempotentKernel(module: LoadedModule, kernel: IrFunction): boolean {
    return this.validatorOf(module, kernel)?.summary.class === 'idempotent';
  }

  /** The validator of a kernel; undefined while it is not analysed. */
  validatorOf(module: LoadedModule, kernel: IrFunction): Validator | undefined {
    return this.entryOf(module.ir, kernel).validator;
  }

  /** Kernels that wait to be analysed. */
  pending(): number {
    return this.queue.length;
  }

  /** Its content's key, to whoever asks first for a kernel that is not analysed; undefined: nobody needs to analyse it. */
  request(module: IrModule, kernel: IrFunction): string | undefined {
    const entry = this.entryOf(module, kernel);
    if (entry.validator !== undefined || entry.isRequested === true) return undefined;
    entry.isRequested = true;
    return entry.key;
  }

  /** From now on launches of kernels with this content are judged by what somebody else has found, also where something was known. */
  take({ key, ...found }: KernelAnalysis): void {
    this.given.set(key, found);
    const entry = this.byContent.get(key);
    if (entry === undefined) return;
    const place = this.queue.indexOf(entry);
    if (place >= 0) this.queue.splice(place, 1);
    this.learn(entry, found);
  }

  /** All that was taken but code, in the order of its first coming. */
  taken(): readonly KernelAnalysis[] {
    return [...this.given].map(([key, { summary }]) => ({ key, summary }));
  }

  /** Analyses the kernel that has waited longest. @returns false when none waits */
  analyseNext(): boolean {
    const entry = this.queue.shift();
    if (entry === undefined) return false;
    this.learn(entry, { summary: analyzeKernel(entry.ir, entry.kernel) });
    return true;
  }

  get metrics(): VerdictMetrics {
    return {
      ...this.counts,
      refused: { ...this.refused },
      kernels: { ...this.classes },
      latency: { ...this.latency, counts: [...this.latency.counts] },
    };
  }

  private learn(entry: Entry, { summary, code }: Omit<KernelAnalysis, 'key'>): void {
    if (entry.validator !== undefined) this.classes[entry.validator.summary.class]--;
    entry.validator = compileValidator(summary, this.options, code);
    this.classes[summary.class]++;
  }

  private timed(validator: Validator, launch: ValidatedLaunch): boolean {
    const { stopwatchNs } = this.options;
    if (stopwatchNs === undefined) return validator.judge(launch);
    const begin = stopwatchNs();
    const verdict = validator.judge(launch);
    const ns = stopwatchNs() - begin;
    this.latency.count++;
    this.latency.totalNs += ns;
    this.latency.mostNs = Math.max(this.latency.mostNs, ns);
    let place = 0;
    while (ns > VERDICT_LATENCY_BOUNDS_NS[place]) place++;
    this.latency.counts[place]++;
    return verdict;
  }

  private launchCostNs(accesses: number): number {
    const { launchNs, freeAccesses, accessNs, mostNs } = this.costs;
    return Math.min(mostNs, launchNs + accessNs * Math.max(0, accesses - freeAccesses));
  }

  private entryOf(ir: IrModule, kernel: IrFunction): Entry {
    const known = this.byKernel.get(kernel);
    if (known !== undefined) return known;
    const key = contentKey(ir, kernel);
    let entry = this.byContent.get(key);
    if (entry === undefined) {
      entry = { key, ir, kernel: kernel.name };
      this.byContent.set(key, entry);
      const given = this.given.get(key);
      if (given === undefined) this.queue.push(entry);
      else this.learn(entry, given);
    }
    this.byKernel.set(kernel, entry);
    return entry;
  }
}

/** A kernel by its content: its code, that of the functions it may call, the module's variables, and the target. */
export function contentKey(ir: IrModule, kernel: IrFunction): string {
  const hash = createHash('sha256');
  const functions = ir.functions.filter((fn) => !fn.isEntry);
  const variables = ir.variables.map(({ name, space, bytes }) => [name, space, bytes]);
  hash.update(JSON.stringify([ir.targets, variables]));
  for (const { parameters, registers, instructions, variables: own } of [kernel, ...functions])
    hash.update(JSON.stringify([parameters, registers, instructions, own]));
  return hash.digest('hex');
}
