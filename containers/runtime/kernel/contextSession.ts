import { basename } from 'node:path';
import type {
  CommandSink,
  CompletionSink,
  DriverCommand,
  DriverCompletion,
  DriverFailure,
  DriverResult,
} from '../../../simulator/driver/index.js';
import type { LaunchClass } from '../../../simulator/scheduling/index.js';
import {
  BATCHES_IN_FLIGHT,
  bindPointers,
  inputItemBytes,
  planLaunches,
  type KernelModel,
  type PlannedLaunch,
} from '../../models/index.js';

const WARM_UP_BATCHES = [1, 2, 8, 32] as const;

/** A driver command without what the session adds. */
export type SessionCommand = DriverCommand extends infer C
  ? C extends DriverCommand
    ? Omit<C, 'ticket' | 'context'>
    : never
  : never;

/** Where one batch in flight lives on the device. */
export interface SlotMemory {
  readonly stream: number;
  /** Device addresses of every region that a launch may name: the slot's own and the shared weights. */
  readonly addresses: ReadonlyMap<string, number>;
}

export interface BoundLaunch {
  readonly module: number;
  readonly plan: PlannedLaunch;
  readonly params: Uint8Array;
}

export interface SessionListener {
  onReady(session: ContextSession): void;
  onSetupFailed(session: ContextSession, reason: string): void;
}

/** A step of the set-up: commands go out one by one, each with the result of the one before it. */
type Setup = Generator<SessionCommand, void, DriverResult>;

/**
 * One CUDA context of a replica: streams, modules, weights and buffers, set up by commands only. A context
 * that faulted is thrown away whole, and the replica goes on in a new session.
 */
export class ContextSession implements CompletionSink {
  readonly slots: SlotMemory[] = [];
  private readonly modules = new Map<string, number>();
  private readonly plans = new Map<number, readonly PlannedLaunch[]>();
  private readonly bound = new Map<string, readonly BoundLaunch[]>();
  private readonly setup: Setup;
  private context = 0;
  private nextTicket = 1;
  private ended = false;
  /** Its context is gone, or there was none. */
  private freed = false;
  private told: () => void = () => undefined;

  constructor(
    private readonly driver: CommandSink,
    private readonly gpu: number,
    private readonly model: KernelModel,
    private readonly listener: SessionListener,
    /** The replica's first context, which warms up. */
    private readonly isFirst: boolean,
    /** Of its launches; undefined: `standard`. */
    private readonly launchClass?: LaunchClass,
  ) {
    this.setup = this.steps();
  }

  /** Its context's id on the node; 0 until there is one. */
  get contextId(): number {
    return this.context;
  }

  /** Begins the set-up; the listener hears how it ends. */
  begin(): void {
    this.advance({});
  }

  submit(command: SessionCommand, sink: CompletionSink): void {
    this.driver.submit({ ...command, ticket: this.nextTicket++, context: this.context }, sink);
  }

  /** Launches of a batch of `batch` items in a slot, with their addresses; kept for the next batch of that size. */
  launches(slot: number, batch: number): readonly BoundLaunch[] {
    const key = `${slot}/${batch}`;
    let launches = this.bound.get(key);
    if (launches === undefined) {
      let plan = this.plans.get(batch);
      if (plan === undefined) this.plans.set(batch, (plan = planLaunches(this.model.manifest, batch)));
      const { addresses } = this.slots[slot];
      launches = plan.map((launch) => ({
        module: this.modules.get(launch.module) ?? 0,
        plan: launch,
        params: bindPointers(launch, addresses),
      }));
      this.bound.set(key, launches);
    }
    return launches;
  }

  /** Gives the context back. What is in flight completes into sinks that no longer listen. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    if (this.context !== 0) this.destroyContext();
  }

  /** @param told called once the session has ended and nothing of it is left on the GPU; at once when that is so */
  onFreed(told: () => void): void {
    this.told = told;
    if (this.freed) told();
  }

  onCompletion({ failure, result, op }: DriverCompletion): void {
    if (op === 'contextCreate') {
      if (result?.handle === undefined) this.setFreed();
      else this.context = result.handle;
      // Ended while the context was being made: it must not stay behind.
      if (this.ended && this.context !== 0) this.destroyContext();
    }
    if (this.ended) return;
    if (failure !== undefined) this.fail(describe(op, failure));
    else this.advance(result ?? {});
  }

  private advance(result: DriverResult): void {
    let next: IteratorResult<SessionCommand, void>;
    try {
      next = this.setup.next(result);
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      this.fail(error.message);
      return;
    }
    if (next.done === true) this.listener.onReady(this);
    else this.submit(next.value, this);
  }

  private destroyContext(): void {
    this.submit({ stream: 0, op: 'contextDestroy', args: {} }, { onCompletion: () => this.setFreed() });
  }

  private setFreed(): void {
    this.freed = true;
    this.told();
  }

  private fail(reason: string): void {
    this.end();
    this.listener.onSetupFailed(this, reason);
  }

  private *steps(): Setup {
    const { gpu, launchClass } = this;
    const args = launchClass === undefined ? { gpu } : { gpu, launchClass };
    yield { stream: 0, op: 'contextCreate', args };
    const folder = basename(this.model.folder);
    for (const { name, file: path, ptx } of this.model.modules) {
      // Faults name the file, and their messages reach clients: none of the host's folders.
      const file = `${folder}/${basename(path)}`;
      const { handle } = yield { stream: 0, op: 'moduleLoad', args: { ptx, file } };
      this.modules.set(name, required(handle, 'moduleLoad'));
    }
    const weights = new Map<string, number>();
    for (const [name, bytes] of this.model.weights) {
      const { address } = yield { stream: 0, op: 'malloc', args: { bytes: bytes.length } };
      weights.set(name, required(address, 'malloc'));
      yield {
        stream: 0,
        op: 'memcpyHostToDevice',
        args: { address: required(address, 'malloc'), bytes, pinned: false },
      };
    }
    for (let slot = 0; slot < BATCHES_IN_FLIGHT; slot++) {
      const addresses = new Map(weights);
      for (const { name, kind, bytes } of this.model.regions) {
        if (kind === 'weight') continue;
        const { address } = yield { stream: 0, op: 'malloc', args: { bytes } };
        addresses.set(name, required(address, 'malloc'));
      }
      const { handle } = yield { stream: 0, op: 'streamCreate', args: { priority: 0 } };
      this.slots.push({ stream: required(handle, 'streamCreate'), addresses });
    }
    if (this.isFirst) yield* this.warmUp();
  }

  /** Batches of zeros all the way: compiles every kernel, lets the host's compilers see the path, counts a query's cost. */
  private *warmUp(): Setup {
    const { inputs, limits, maxBatchSize } = this.model.manifest;
    const { stream, addresses } = this.slots[0];
    const itemBytes = inputItemBytes(this.model.manifest);
    for (const batch of WARM_UP_BATCHES) {
      if (batch > maxBatchSize) break;
      const address = required(addresses.get(inputs[0].name), 'malloc');
      const bytes = new Uint8Array(batch * itemBytes);
      yield { stream, op: 'memcpyHostToDevice', args: { address, bytes, pinned: true } };
      let threadInstructions = 0;
      for (const launch of this.launches(0, batch)) {
        const { launch: report } = yield launchCommand(stream, launch);
        threadInstructions += report?.threadInstructions ?? 0;
      }
      for (const { name, kind, bytes: size } of this.model.regions) {
        if (kind !== 'output') continue;
        const source = required(addresses.get(name), 'malloc');
        yield { stream, op: 'memcpyDeviceToHost', args: { address: source, bytes: size, pinned: true } };
      }
      const limit = limits.threadInstructionsPerQuery;
      if (threadInstructions > batch * limit) {
        throw new SetupError(
          `limits.threadInstructionsPerQuery: a batch of ${batch} takes ${threadInstructions} PTX ` +
            `thread-instructions, the limit is ${limit} a query`,
        );
      }
    }
  }
}

class SetupError extends Error {
  override readonly name = 'SetupError';
}

/** @param launchClass undefined: the context's */
export function launchCommand(
  stream: number,
  { module, plan, params }: BoundLaunch,
  launchClass?: LaunchClass,
): SessionCommand {
  const { kernel, grid, block, dynamicSharedBytes } = plan;
  const args = { module, kernel, grid, block, dynamicSharedBytes, params };
  if (launchClass === undefined) return { stream, op: 'launch', args };
  return { stream, op: 'launch', args: { ...args, controls: { launchClass } } };
}

export function describe(op: string, failure: DriverFailure): string {
  return `${op} failed (${failure.code}): ${failure.message}`;
}

function required(value: number | undefined, op: string): number {
  if (value === undefined) throw new SetupError(`${op} gave no handle`);
  return value;
}
