import type { ContainerChannel, HelloFrame, PrintedFrame } from '../../containers/protocol/index.js';
import type { ReplicaHandle } from '../prediction/index.js';
import type { HostedModel, ModelRecord } from '../registry/index.js';
import { WarmUpChannel, type WarmUp } from './warmUp/index.js';
import type { ReplicaLife, RestartPace } from './restartPace.js';
import { WatchedChannel, type ChannelWatcher } from './watchedChannel.js';

/** `warming`: it answers its warm-up; `down`: lost, and waiting for its next start. */
export type ReplicaState = 'starting' | 'warming' | 'up' | 'draining' | 'down';

/** One replica of a model version, as management shows it. */
export interface ReplicaStatus {
  readonly model: string;
  readonly version: string;
  readonly replica: number;
  readonly state: ReplicaState;
  /** Starts after the first. */
  readonly restarts: number;
  /** Why it was lost, or could not start, the last time. */
  readonly lastFailure?: string;
  /** How long it took for a single input at the end of its warm-up, in milliseconds; absent where it had none. */
  readonly oneInputMs?: number;
}

/** Starts a container. A failure to start arrives as the channel's `down` frame. */
export interface ContainerStarter<M extends ModelRecord = HostedModel> {
  start(model: M, replica: number): ContainerChannel;
  /** Why there is no place for a replica now; undefined where there is. */
  obstacle?(model: M, replica: number): string | undefined;
  /** Numbers of the replicas that run, where somebody else says which they are; undefined: as many as the scale says. */
  numbers?(model: M): readonly number[] | undefined;
  /** A replica has answered its warm-up. */
  onUp?(model: M, replica: number): void;
  /** @param listener told when there may be a place where there was none */
  watchRoom?(listener: () => void): void;
}

export interface ReplicaLimits {
  /** A replica that has not answered its warm-up by then is started again. */
  readonly warmUpMs: number;
  /** A replica that has not answered what it had by then is closed all the same. */
  readonly drainMs: number;
}

export const DEFAULT_REPLICA_LIMITS: ReplicaLimits = { warmUpMs: 60_000, drainMs: 60_000 };

/** What every replica of a deployer shares. */
export interface ReplicaContext<M extends ModelRecord = HostedModel> {
  readonly starter: ContainerStarter<M>;
  /** Takes the channel of a replica into use: the engine's. */
  readonly addReplica: (channel: ContainerChannel, isApart: boolean) => ReplicaHandle;
  /** A replica has said what it takes. @throws Error with why it cannot serve so */
  readonly onHello: (model: ModelRecord, hello: HelloFrame) => void;
  /** What a new replica is asked before it serves. */
  readonly warmUpFor: (model: ModelRecord, hello: HelloFrame) => WarmUp | undefined;
  readonly limits: ReplicaLimits;
  readonly onStateChange: (status: ReplicaStatus, isApart: boolean) => void;
  readonly onPrinted: (status: ReplicaStatus, frame: PrintedFrame) => void;
}

/** Keeps one replica running: starts it, hands its channel to the engine, starts it again when it is lost. */
export class Replica<M extends ModelRecord = HostedModel> implements ChannelWatcher {
  private state: ReplicaState = 'starting';
  private restarts = 0;
  private lastFailure: string | undefined;
  private oneInputMs: number | undefined;
  private startedMs = 0;
  private upSinceMs: number | undefined;
  private channel: WatchedChannel | undefined;
  private handle: ReplicaHandle | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  /** Inputs that were made up, and that the replica could not survive: it starts without them. */
  private skipsWarmUp = false;
  private warmUp: WarmUp | undefined;
  /** There is no place for it: it starts once there is. */
  private isWaiting = false;
  private isLingering = false;

  constructor(
    private readonly model: M,
    readonly number: number,
    private readonly context: ReplicaContext<M>,
    private readonly pace: RestartPace,
    /** It tries what may take a replica down, and serves nobody else. */
    readonly isApart = false,
  ) {}

  start(): void {
    const { starter, addReplica, onHello, warmUpFor, limits } = this.context;
    const obstacle = starter.obstacle?.(this.model, this.number);
    this.isWaiting = obstacle !== undefined;
    if (obstacle !== undefined) {
      this.lastFailure = obstacle;
      this.setState('down');
      return;
    }
    this.setState('starting');
    this.startedMs = performance.now();
    this.upSinceMs = undefined;
    const warmed = new WarmUpChannel(starter.start(this.model, this.number), {
      warmUpFor: (hello) => {
        onHello(this.model, hello);
        return this.skipsWarmUp ? undefined : warmUpFor(this.model, hello);
      },
      onWarming: (warmUp) => {
        this.warmUp = warmUp;
        this.setState('warming');
      },
      onWarm: (lastBatchMs) => {
        this.oneInputMs = lastBatchMs;
      },
      limitMs: limits.warmUpMs,
    });
    this.channel = new WatchedChannel(warmed, this);
    this.handle = addReplica(this.channel, this.isApart);
  }

  /** There may be a place for it now. */
  retry(): void {
    if (this.isWaiting && !this.isStopped) this.start();
  }

  /** Others are to take its place: it answers until they do, and is not started again when it is lost. */
  linger(): void {
    this.isLingering = true;
  }

  /** It is to run on after all. */
  stay(): void {
    if (!this.isLingering) return;
    this.isLingering = false;
    if (this.state === 'down') this.start();
  }

  /** Ends it at once. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.channel?.close();
  }

  /** Ends it once it has answered what it had; calls back then. At once when it is not up. */
  drain(done: () => void): void {
    if (this.state !== 'up' || this.handle === undefined) {
      this.stop();
      done();
      return;
    }
    clearTimeout(this.timer);
    this.setState('draining');
    const end = (): void => {
      if (this.isStopped) return;
      this.stop();
      done();
    };
    this.timer = setTimeout(end, this.context.limits.drainMs);
    this.timer.unref();
    this.handle.drain(end);
  }

  status(): ReplicaStatus {
    const { name: model, version } = this.model;
    const { number: replica, state, restarts, lastFailure, oneInputMs } = this;
    return {
      model,
      version,
      replica,
      state,
      restarts,
      ...(lastFailure === undefined ? {} : { lastFailure }),
      ...(oneInputMs === undefined ? {} : { oneInputMs }),
    };
  }

  onUp(): void {
    this.upSinceMs = performance.now();
    if (!this.isApart) this.context.starter.onUp?.(this.model, this.number);
    this.setState('up');
  }

  onPrinted(frame: PrintedFrame): void {
    this.context.onPrinted(this.status(), frame);
  }

  onDown(reason: string): void {
    // One that is drained ends in any case.
    if (this.isStopped || this.state === 'draining') return;
    clearTimeout(this.timer);
    if (this.state === 'warming' && this.warmUp?.problem === undefined) this.skipsWarmUp = true;
    this.lastFailure = reason;
    if (!this.isLingering) {
      this.timer = setTimeout(() => {
        this.restarts += 1;
        this.start();
      }, this.pace.afterLoss(this.life()));
      this.timer.unref();
    }
    this.setState('down');
  }

  private life(): ReplicaLife {
    const { startedMs, upSinceMs, channel } = this;
    const hasAnswered = channel?.hasAnswered ?? false;
    if (upSinceMs === undefined) return { startMs: undefined, upMs: 0, hasAnswered };
    return { startMs: upSinceMs - startedMs, upMs: performance.now() - upSinceMs, hasAnswered };
  }

  private setState(state: ReplicaState): void {
    if (this.state === state) return;
    this.state = state;
    this.context.onStateChange(this.status(), this.isApart);
  }
}
