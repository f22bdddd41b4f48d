import type { ContainerChannel } from '../../containers/protocol/index.js';
import type { ModelRecord } from '../registry/index.js';
import { WatchedChannel, type ChannelWatcher } from './watchedChannel.js';

/** One replica of a model version, as management shows it. */
export interface ReplicaStatus {
  readonly model: string;
  readonly version: string;
  readonly replica: number;
  readonly state: 'starting' | 'up' | 'down';
  /** Starts after the first. */
  readonly restarts: number;
  /** Why it was lost, or could not start, the last time. */
  readonly lastFailure?: string;
}

/** Starts a container. A failure to start arrives as the channel's `down` frame. */
export interface ContainerStarter {
  start(model: ModelRecord, replica: number): ContainerChannel;
}

/** How long a lost replica waits before it is started again: doubled with each loss, forgotten once it has stayed up. */
export interface BackOff {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Up for so long, it starts with `firstMs` again. */
  readonly forgivenAfterMs: number;
}

export const DEFAULT_BACK_OFF: BackOff = { firstMs: 200, longestMs: 30_000, forgivenAfterMs: 60_000 };

/** Keeps one replica running: starts it, hands its channel to the engine, starts it again when it is lost. */
export class Replica implements ChannelWatcher {
  private state: ReplicaStatus['state'] = 'starting';
  private restarts = 0;
  private lastFailure: string | undefined;
  private delayMs: number;
  private channel: WatchedChannel | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly model: ModelRecord,
    private readonly number: number,
    private readonly starter: ContainerStarter,
    private readonly addReplica: (channel: ContainerChannel) => void,
    private readonly backOff: BackOff,
    private readonly onStateChange: (status: ReplicaStatus) => void,
    private readonly onText: (status: ReplicaStatus, text: string) => void,
  ) {
    this.delayMs = backOff.firstMs;
  }

  start(): void {
    this.state = 'starting';
    this.channel = new WatchedChannel(this.starter.start(this.model, this.number), this);
    this.addReplica(this.channel);
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.channel?.close();
  }

  status(): ReplicaStatus {
    const { name: model, version } = this.model;
    const { number: replica, state, restarts, lastFailure } = this;
    return {
      model,
      version,
      replica,
      state,
      restarts,
      ...(lastFailure === undefined ? {} : { lastFailure }),
    };
  }

  onUp(): void {
    this.state = 'up';
    this.onStateChange(this.status());
    this.timer = setTimeout(() => (this.delayMs = this.backOff.firstMs), this.backOff.forgivenAfterMs);
    this.timer.unref();
  }

  onPrinted(text: string): void {
    this.onText(this.status(), text);
  }

  onDown(reason: string): void {
    clearTimeout(this.timer);
    if (this.isStopped) return;
    this.state = 'down';
    this.lastFailure = reason;
    this.timer = setTimeout(() => {
      this.restarts += 1;
      this.start();
    }, this.delayMs);
    this.timer.unref();
    this.delayMs = Math.min(this.delayMs * 2, this.backOff.longestMs);
    this.onStateChange(this.status());
  }
}
