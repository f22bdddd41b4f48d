import { DENIAL_REASONS, type DenialReason } from './denials.js';

/** How often one reason is told: whoever tries keys must not fill the disk. */
const INTERVAL_MS = 10_000;

/** The interface that turned a request away. */
export type Interface = 'query' | 'management';

export interface DenialCount {
  readonly interface: Interface;
  readonly reason: DenialReason;
  readonly count: number;
}

interface Tally {
  count: number;
  toldAtMs: number;
  /** Turned away since then and not told. */
  held: number;
}

/** Where a request came from, and the key that it named if there is such a key. */
export interface DenialSource {
  readonly address: string | undefined;
  readonly keyId: string | undefined;
}

/** Counts what was turned away, by a fixed set of reasons, and tells of it: each reason once an interval. */
export class DenialLog {
  private readonly tallies: ReadonlyMap<DenialReason, Tally>;

  constructor(
    private readonly interfaceName: Interface,
    private readonly complain: (message: string, details: Readonly<Record<string, unknown>>) => void,
    private readonly nowMs: () => number,
  ) {
    this.tallies = new Map(
      DENIAL_REASONS.map((reason) => [reason, { count: 0, toldAtMs: -Infinity, held: 0 }]),
    );
  }

  /** Never told what came as a key: that may be a real one with a slip in it. */
  note(reason: DenialReason, { address, keyId }: DenialSource): void {
    const tally = this.tallies.get(reason);
    if (tally === undefined) return;
    tally.count += 1;
    tally.held += 1;
    const nowMs = this.nowMs();
    if (nowMs - tally.toldAtMs < INTERVAL_MS) return;
    const { held: requests } = tally;
    this.complain('requests without access were turned away', {
      interface: this.interfaceName,
      reason,
      requests,
      address,
      keyId,
    });
    tally.toldAtMs = nowMs;
    tally.held = 0;
  }

  counts(): readonly DenialCount[] {
    return [...this.tallies].map(([reason, { count }]) => ({ interface: this.interfaceName, reason, count }));
  }
}
