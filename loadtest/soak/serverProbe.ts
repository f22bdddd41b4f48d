/**
 * Loaded into the server under test before itself (`node --expose-gc --import`): answers each message of its parent
 * with its heap after a collection and how late its event loop has been since the message before.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface ServerSample {
  readonly heapMib: number;
  readonly externalMib: number;
  readonly rssMib: number;
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
}

const MIB = 1024 * 1024;

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
process.on('message', () => {
  const loop = { loopP99Ms: delay.percentile(99) / 1e6, loopMaxMs: delay.max / 1e6 };
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const sample: ServerSample = {
    heapMib: heapUsed / MIB,
    externalMib: external / MIB,
    rssMib: rss / MIB,
    ...loop,
  };
  process.send?.(sample, () => delay.reset());
});
// Neither keeps the server from ending.
process.channel?.unref();
