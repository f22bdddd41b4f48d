import { RefusedError } from '../../services/client/index.js';
import type { SelectionShares } from '../measure/index.js';
import { MetricsChange, type MetricSamples, type ServerView } from './server/index.js';
import { wallNs } from './wallClock.js';

/** One look at the server while it is loaded. */
interface Look {
  readonly atNs: number;
  readonly batches: number;
  readonly items: number;
  readonly shares: SelectionShares;
}

const INTERVAL_MS = 1000;

/** Reads a server's metrics each second of a load: what it did over time, and from beginning to end. */
export class ServerWatch {
  private readonly looks: Look[] = [];
  private last: MetricSamples;
  private timer: NodeJS.Timeout | undefined;
  private isLooking = false;

  /** @param first before the load */
  constructor(
    private readonly view: ServerView,
    private readonly first: MetricSamples,
  ) {
    this.last = first;
  }

  begin(): void {
    this.keep(this.first);
    this.timer = setInterval(() => void this.look(), INTERVAL_MS);
  }

  /** @returns undefined when the server is gone: nobody knows what it has done */
  async end(): Promise<MetricsChange | undefined> {
    this.stop();
    return (await this.look()) ? new MetricsChange(this.first, this.last) : undefined;
  }

  /** Without a last look. */
  stop(): void {
    clearInterval(this.timer);
  }

  /** What the server did from one moment to another, as far as its looks tell. */
  between(fromNs: number, toNs: number): { batches: number; items: number; shares: SelectionShares | null } {
    const from = this.at(fromNs);
    const to = this.at(toNs);
    const after = this.looks.findLast(({ atNs }) => atNs <= toNs);
    return {
      batches: to.batches - from.batches,
      items: to.items - from.items,
      shares: after?.shares ?? null,
    };
  }

  /** Between two looks, counters are taken to grow evenly. */
  private at(ns: number): { batches: number; items: number } {
    const next = this.looks.findIndex(({ atNs }) => atNs >= ns);
    const to = this.looks.at(next < 0 ? -1 : next);
    const from = next <= 0 ? to : this.looks[next - 1];
    if (from === undefined || to === undefined) return { batches: 0, items: 0 };
    const part = to.atNs === from.atNs ? 1 : Math.min(1, (ns - from.atNs) / (to.atNs - from.atNs));
    const mixed = (a: number, b: number): number => a + (b - a) * part;
    return { batches: mixed(from.batches, to.batches), items: mixed(from.items, to.items) };
  }

  private async look(): Promise<boolean> {
    // A server that is slow to answer is not asked twice at once.
    if (this.isLooking) return false;
    this.isLooking = true;
    try {
      const metrics = await this.view.metrics();
      if (metrics instanceof RefusedError) return false;
      this.last = metrics;
      this.keep(metrics);
      return true;
    } catch {
      // It is the load that says whether the server has gone.
      return false;
    } finally {
      this.isLooking = false;
    }
  }

  private keep(metrics: MetricSamples): void {
    const sum = (name: string): number =>
      (metrics.get(name) ?? []).reduce((all, { value }) => all + value, 0);
    const shares: Record<string, Record<string, number>> = {};
    for (const { labels, value } of metrics.get('windjammer_selection_share') ?? []) {
      (shares[labels.application] ??= {})[labels.model] = value;
    }
    this.looks.push({
      atNs: wallNs(),
      batches: sum('windjammer_batch_size_count'),
      items: sum('windjammer_batch_size_sum'),
      shares,
    });
  }
}
