import type { NodeObserver } from '../cluster/index.js';
import type { DriverObserver } from '../driver/index.js';
import type { DeviceObserver } from '../gpu/index.js';

/** When a command began. */
export interface EntryStart {
  /** When it was its stream's oldest, or its copy engine began on it. */
  readonly startNs: number;
  /** When the first of its blocks came to an SM, if it has any. */
  readonly firstBlockNs?: number;
}

/** Notes when the commands of one node begin, by ticket; what is seen goes on to another observer, if there is one. */
export class EntryTimes implements NodeObserver {
  readonly driver: DriverObserver;
  readonly devices: readonly DeviceObserver[];
  private readonly starts = new Map<number, { startNs: number; firstBlockNs?: number }>();
  private readonly tickets = new Map<number, number>();
  private readonly queued = new Set<number>();

  constructor(nowNs: () => number, behind: NodeObserver | undefined) {
    this.driver = {
      onQueued: (command, context) => {
        this.queued.add(command.command.ticket);
        behind?.driver.onQueued(command, context);
      },
      onStarted: (command, context) => {
        const { ticket } = command.command;
        this.tickets.set(command.sequence, ticket);
        if (!this.starts.has(ticket)) this.starts.set(ticket, { startNs: nowNs() });
        behind?.driver.onStarted(command, context);
      },
      onCompleted: (command, context, result, failure) =>
        behind?.driver.onCompleted(command, context, result, failure),
      onCopyStarted: (engine, copy, context) => {
        this.starts.set(copy.command.ticket, { startNs: nowNs() });
        behind?.driver.onCopyStarted(engine, copy, context);
      },
      onCopyEnded: (engine, sequence) => behind?.driver.onCopyEnded(engine, sequence),
    };
    const device: DeviceObserver = {
      onBlocksLeave: (launch, group, done, atNs) => {
        const start = this.starts.get(this.tickets.get(launch.command ?? -1) ?? -1);
        if (start !== undefined) {
          start.firstBlockNs = Math.min(start.firstBlockNs ?? Infinity, group.startNs);
        }
        behind?.devices[0]?.onBlocksLeave(launch, group, done, atNs);
      },
      onSettled: (atNs) => behind?.devices[0]?.onSettled(atNs),
      onPreempted: (event) => behind?.devices[0]?.onPreempted?.(event),
    };
    this.devices = [device];
  }

  /** Whether a command has reached its stream. */
  isQueued(ticket: number): boolean {
    return this.queued.has(ticket);
  }

  of(ticket: number): EntryStart | undefined {
    return this.starts.get(ticket);
  }
}
