import type { GpuActivity, NodeReport } from '../../containers/runtime/index.js';
import type { GpuView, NodeView } from './feedFrame.js';

interface Seen {
  readonly counts: GpuActivity;
  readonly view: GpuView;
}

/** Turns the nodes' running sums into what happened between two samples. */
export class GpuViews {
  private seen = new Map<string, Seen>();

  nodes(reports: readonly NodeReport[]): NodeView[] {
    const next = new Map<string, Seen>();
    const views = reports.map(({ node, dilation, gpus }): NodeView => ({
      node,
      dilation: dilation ?? null,
      gpus: gpus.map((counts) => {
        const key = `${node}/${counts.gpu}`;
        const view = viewOf(counts, this.seen.get(key));
        next.set(key, { counts, view });
        return view;
      }),
    }));
    this.seen = next;
    return views;
  }
}

/** Three digits: a share of a millionth still shows, and a frame stays small. */
const DIGITS = 3;

function viewOf(counts: GpuActivity, seen: Seen | undefined): GpuView {
  const { gpu, profile, asOfNs, busyNs, blockNs } = counts;
  // No new sample yet: what the last one showed still stands.
  if (seen !== undefined && seen.counts.asOfNs === asOfNs) return seen.view;
  // A thread that died begins its sums and its time afresh.
  const before = seen !== undefined && seen.counts.asOfNs < asOfNs ? seen.counts : undefined;
  const busy: number[] = [];
  const blocks: number[] = [];
  for (let sm = 0; sm < busyNs.length; sm++) {
    // Without an earlier sample there is no span to divide by: the first one shows nothing.
    const busySinceNs = before === undefined ? 0 : busyNs[sm] - before.busyNs[sm];
    const blockSinceNs = before === undefined ? 0 : blockNs[sm] - before.blockNs[sm];
    const elapsedNs = before === undefined ? 1 : asOfNs - before.asOfNs;
    busy.push(short(Math.min(1, busySinceNs / elapsedNs)));
    blocks.push(busySinceNs > 0 ? short(blockSinceNs / busySinceNs) : 0);
  }
  return { gpu, profile, busy, blocks };
}

function short(value: number): number {
  return Number(value.toPrecision(DIGITS));
}
