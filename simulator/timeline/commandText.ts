import type { DriverCommand } from '../driver/index.js';
import type { TraceArgs } from './traceWriter.js';

/** A command's name on its track, and what is to be known of it before it runs. */
export interface CommandText {
  readonly name: string;
  readonly args: TraceArgs;
  /** Takes no time by itself. */
  readonly isInstant?: boolean;
}

type Texts = {
  readonly [O in DriverCommand['op']]?: (
    args: Extract<DriverCommand, { op: O }>['args'],
    streamPriority: number,
  ) => CommandText;
};

/** In the words of CUDA's own tools. */
const TEXTS: Texts = {
  launch: ({ kernel, grid, block, cluster, dynamicSharedBytes, cooperative, controls }, streamPriority) => ({
    name: kernel,
    args: {
      grid: grid.join('x'),
      block: block.join('x'),
      ...(cluster === undefined ? {} : { cluster: cluster.join('x') }),
      blocks: grid[0] * grid[1] * grid[2],
      dynamicSharedBytes,
      priority: controls?.priority ?? streamPriority,
      ...(cooperative === true ? { cooperative } : {}),
    },
  }),
  memcpyHostToDevice: ({ bytes, declaredBytes, pinned }) => ({
    name: 'Memcpy HtoD',
    args: { bytes: declaredBytes ?? bytes.length, pinned },
  }),
  memcpyDeviceToHost: ({ bytes, pinned }) => ({ name: 'Memcpy DtoH', args: { bytes, pinned } }),
  memcpyDeviceToDevice: ({ bytes }) => ({ name: 'Memcpy DtoD', args: { bytes } }),
  memcpyPeer: ({ bytes }) => ({ name: 'Memcpy PtoP', args: { bytes } }),
  memset: ({ bytes }) => ({ name: 'Memset', args: { bytes } }),
  eventRecord: ({ event }) => ({ name: `record event ${event}`, args: {} }),
  eventWait: ({ event }) => ({ name: `wait for event ${event}`, args: {} }),
  freeAsync: () => ({ name: 'free', args: {}, isInstant: true }),
  hostFunction: ({ hostNs }) => ({ name: 'host function', args: { hostNs } }),
  graphLaunch: ({ exec }) => ({ name: `graph ${exec}`, args: { exec } }),
  streamSynchronize: () => ({ name: 'synchronize', args: {}, isInstant: true }),
};

export function commandText(command: DriverCommand, streamPriority: number): CommandText {
  // The text and the args belong to one op; the union cannot see that.
  const text = TEXTS[command.op] as
    ((args: DriverCommand['args'], streamPriority: number) => CommandText) | undefined;
  return text?.(command.args, streamPriority) ?? { name: command.op, args: {} };
}
