import type { ContainerChannel, HelloFrame, InputType } from '../../protocol/index.js';
import { ProcessChannel, type ProcessStart } from './processChannel.js';
import { DEFAULT_PROCESS_LIMITS } from './processLimits.js';
import type { OwnProcessSource } from './processSource.js';

/** Runs users' models, each replica in a process of its own. */
export class ProcessHost {
  private readonly channels = new Set<ProcessChannel>();
  private readonly drains: (() => void)[] = [];
  private readonly closes: (() => void)[] = [];
  /** Never throws: a failed start is a `down` frame that says why. */
  start(request: ProcessStart): ContainerChannel {
    const limits = { ...DEFAULT_PROCESS_LIMITS, ...request.limits };
    const channel = new ProcessChannel(request, limits, () => this.check());
    if (!channel.ended) this.channels.add(channel);
    return channel;
  }

  /** Process ids of the replicas that are not ended. */
  pids(): readonly number[] {
    return [...this.channels].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Calls back once no batch is in flight. */
  drain(done: () => void): void {
    this.drains.push(done);
    this.check();
  }

  /** Ends every process; calls back when none is left. */
  close(done: () => void): void {
    this.closes.push(done);
    for (const channel of this.channels) channel.close();
    this.check();
  }

  private check(): void {
    let isBusy = false;
    for (const channel of this.channels) {
      if (channel.ended) this.channels.delete(channel);
      else isBusy ||= channel.batchesInFlight > 0;
    }
    if (!isBusy) for (const done of this.drains.splice(0)) done();
    if (this.channels.size === 0) for (const done of this.closes.splice(0)) done();
  }
}

/**
 * Starts a model, and ends it once it has said what it takes.
 * @param inputType for a model that does not say itself
 * @throws Error with why it cannot start.
 */
export function tryModule(source: OwnProcessSource, inputType?: InputType): Promise<HelloFrame> {
  return new Promise((resolve, reject) => {
    const host = new ProcessHost();
    const identity = { model: 'trial', version: '1', replica: '0' };
    const channel = host.start({
      ...source,
      ...identity,
      ...(inputType === undefined ? {} : { inputType }),
    });
    channel.open({
      onFrame: (frame) => {
        if (frame.kind !== 'hello' && frame.kind !== 'down') return;
        host.close(() => (frame.kind === 'hello' ? resolve(frame) : reject(new Error(frame.reason))));
      },
    });
  });
}
