import type { ReplicaStatus as QueueStatus } from '../../prediction/index.js';

interface Counters {
  readonly items: number;
  readonly busyNs: number;
}

/** What waits is to be worked off within so long, beside what comes. */
const BACKLOG_NS = 1e9;

/** The load of one model version, in replicas' worth of work, as one server sees it. */
export interface VersionLoad {
  /** How much of each replica, by its number, this server has had work for: 0 to 1. */
  readonly replicas: Readonly<Record<string, number>>;
  /** What waits. */
  readonly backlog: number;
}

/** Of several servers that share the replicas: none of those is taken for more than it is. */
export function totalLoad(loads: readonly VersionLoad[]): number {
  const shares = new Map<string, number>();
  let total = 0;
  for (const { replicas, backlog } of loads) {
    total += backlog;
    for (const [replica, share] of Object.entries(replicas))
      shares.set(replica, (shares.get(replica) ?? 0) + share);
  }
  for (const share of shares.values()) total += Math.min(1, share);
  return total;
}

/**
 * Measures the load of one model version: what its replicas did since the last look, as if every batch
 * had been as large as it may be, and what waits. A replica that is busy with small batches has room; how busy it was
 * counts only until its service is known.
 */
export class LoadMeter {
  private last = new Map<string, Counters>();

  constructor(private lastNs: number) {}

  /** @param queues of the version's replicas. */
  read(queues: readonly QueueStatus[], nowNs: number): VersionLoad {
    const elapsedNs = nowNs - this.lastNs;
    const seen = new Map<string, Counters>();
    const replicas: Record<string, number> = {};
    let backlog = 0;
    for (const { replica, items, busyNs, fullItemNs, queued } of queues) {
      const before = this.last.get(replica);
      // A replica that was started again counts from 0.
      const base = before === undefined || before.items > items || before.busyNs > busyNs ? NOTHING : before;
      seen.set(replica, { items, busyNs });
      if (elapsedNs <= 0) continue;
      const workNs = fullItemNs === undefined ? busyNs - base.busyNs : (items - base.items) * fullItemNs;
      replicas[replica] = Math.min(1, workNs / elapsedNs);
      backlog += (queued * (fullItemNs ?? 0)) / BACKLOG_NS;
    }
    this.last = seen;
    this.lastNs = nowNs;
    return { replicas, backlog };
  }
}

const NOTHING: Counters = { items: 0, busyNs: 0 };
