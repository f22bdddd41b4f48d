import { KeyedDraw } from '../../selection/index.js';
import { SHARES, type HostTimes, type TimesByPause } from './hostTimes.js';

/** What each query and batch of a replay takes of the host: drawn from what was measured, the same for the same seed. */
export class HostDraws {
  private readonly draw: KeyedDraw;

  constructor(
    private readonly times: HostTimes,
    seed: number,
  ) {
    this.draw = new KeyedDraw(seed);
  }

  /** Names of the models whose batches are known. */
  get models(): readonly string[] {
    return Object.keys(this.times.models);
  }

  /** What a query whose input has so many bytes as JSON keeps busy who asks. */
  clientNs(bytes: number): number {
    const { clientUs, clientByteNs } = this.times.frontend;
    return clientUs * 1000 + clientByteNs * bytes;
  }

  /** What a query whose input has so many bytes as JSON keeps the frontend busy. */
  queryNs(bytes: number): number {
    const { queryUs, byteNs } = this.times.frontend;
    return queryUs * 1000 + byteNs * bytes;
  }

  /** What it waits for elsewhere on its way there and back. @param pauseNs since the query before it */
  wayNs(query: string, bytes: number, pauseNs: number): number {
    const { way, wayByteNs } = this.times.frontend;
    return timeNs(way, pauseNs, this.draw.of(`way ${query}`)()) + wayByteNs * bytes;
  }

  /** What a batch waits for on its way to a process and back. @param pauseNs since the batch before it was done */
  processNs(batch: string, pauseNs: number): number {
    return timeNs(this.times.process, pauseNs, this.draw.of(`process ${batch}`)());
  }

  /** What a batch takes on a node's thread. @param pauseNs since the thread was done with what it did before */
  batchNs(model: string, batch: string, items: number, pauseNs: number): number {
    const measured = this.times.models[model];
    const share = this.draw.of(`batch ${batch}`)();
    const at = (index: number) => timeNs(measured[index].times, pauseNs, share);
    const after = measured.findIndex((one) => one.items >= items);
    const high = after < 0 ? measured.length - 1 : Math.max(1, after);
    if (measured.length === 1) return (at(0) * items) / measured[0].items;
    const { items: size } = measured[high];
    const { items: smaller } = measured[high - 1];
    // Between sizes that were measured on the line between them, beyond them as much more an item.
    return Math.max(0, at(high - 1) + ((at(high) - at(high - 1)) * (items - smaller)) / (size - smaller));
  }
}

/** @param share at or below which the time lies */
function timeNs(times: TimesByPause, pauseNs: number, share: number): number {
  return between(times, pauseNs, ({ ms }) => atShare(ms, share) * 1e6);
}

/** After a pause between two that were measured, a time between theirs; after others that of the nearest. */
function between<T extends { readonly pauseMs: number }>(
  measured: readonly T[],
  pauseNs: number,
  ns: (one: T) => number,
): number {
  const pauseMs = pauseNs / 1e6;
  const after = measured.findIndex((one) => one.pauseMs >= pauseMs);
  if (after <= 0) return ns(after === 0 ? measured[0] : measured[measured.length - 1]);
  const [less, more] = [measured[after - 1], measured[after]];
  const part =
    Math.log((pauseMs + 1) / (less.pauseMs + 1)) / Math.log((more.pauseMs + 1) / (less.pauseMs + 1));
  return (1 - part) * ns(less) + part * ns(more);
}

function atShare(times: readonly number[], share: number): number {
  const after = SHARES.findIndex((one) => one >= share);
  if (after <= 0) return times[0];
  const part = (share - SHARES[after - 1]) / (SHARES[after] - SHARES[after - 1]);
  return times[after - 1] + part * (times[after] - times[after - 1]);
}
