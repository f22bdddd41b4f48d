import { sentBytes } from './copyTraffic.js';
import type { QueuedCommand } from './streamCommands.js';

/** Bytes of a context's memory that a command may read or write: interval i is [lo[i], hi[i]], both inclusive. Plain data. */
export interface Footprint {
  readonly context: number;
  /** Not all is known: it may be any byte of the context. */
  readonly isAny: boolean;
  readonly lo: readonly number[];
  readonly hi: readonly number[];
  readonly isWrite: readonly boolean[];
}

export function anywhere(context: number): Footprint {
  return { context, isAny: true, lo: [], hi: [], isWrite: [] };
}

/** @param freedBytes of the allocation that a `freeAsync` frees; @returns nothing of commands that touch no memory */
export function footprintsOf(command: QueuedCommand, freedBytes = 0): readonly Footprint[] {
  const { context } = command;
  switch (command.op) {
    case 'memcpyHostToDevice':
      return [range(context, command.args.address, sentBytes(command), true)];
    case 'memcpyDeviceToHost':
      return [range(context, command.args.address, command.args.bytes, false)];
    case 'memcpyDeviceToDevice':
      return [
        range(context, command.args.source, command.args.bytes, false),
        range(context, command.args.destination, command.args.bytes, true),
      ];
    case 'memcpyPeer':
      return [
        range(context, command.args.source, command.args.bytes, false),
        range(command.args.destinationContext, command.args.destination, command.args.bytes, true),
      ];
    case 'memset':
      return [range(context, command.args.address, command.args.bytes, true)];
    case 'freeAsync':
      return [range(context, command.args.address, freedBytes, true)];
    case 'launch':
      return [anywhere(context)];
    case 'eventRecord':
    case 'eventWait':
    case 'graphLaunch':
    case 'hostFunction':
    case 'streamSynchronize':
      return [];
  }
}

function range(context: number, address: number, bytes: number, isWrite: boolean): Footprint {
  return { context, isAny: false, lo: [address], hi: [address + bytes - 1], isWrite: [isWrite] };
}

/** Whether the order of the two matters: a byte that both may touch and one writes. */
export function conflict(a: readonly Footprint[], b: readonly Footprint[]): boolean {
  return a.some((one) => b.some((other) => one.context === other.context && meet(one, other)));
}

function meet(a: Footprint, b: Footprint): boolean {
  if (a.isAny || b.isAny) return true;
  for (let one = 0; one < a.lo.length; one++) {
    for (let other = 0; other < b.lo.length; other++) {
      if (!a.isWrite[one] && !b.isWrite[other]) continue;
      if (a.lo[one] <= b.hi[other] && b.lo[other] <= a.hi[one]) return true;
    }
  }
  return false;
}
