import { gpuName, type NodeReport } from '../../containers/runtime/index.js';

/** GPUs that are recorded: the first ones, in the order of nodes. */
export const MOST_GPUS = 16;

/** What one GPU has done between two looks. Shares are of its simulated time, launches of the wall's. */
export interface GpuFigures {
  readonly gpu: string;
  readonly busyShare: number;
  readonly launchesPerSecond: number;
  /** Launches that were taken off the SMs: to run again from their start, to go on later, or once their blocks had ended. */
  readonly kills: number;
  readonly saves: number;
  readonly drains: number;
}

interface Sums {
  readonly asOfNs: number;
  readonly busyNs: number;
  readonly launched: number;
  readonly kills: number;
  readonly saves: number;
  readonly drains: number;
}

/** Nodes sample their GPUs anyhow: this takes the differences between samples, however much happened between them. */
export class GpuReader {
  private seen = new Map<string, Sums>();

  /** Of GPUs with two samples. @param seconds of wall time since the last look */
  take(reports: readonly NodeReport[], seconds: number): GpuFigures[] {
    const next = new Map<string, Sums>();
    const figures: GpuFigures[] = [];
    for (const { node, spans } of reports) {
      for (const { latest } of spans) {
        if (next.size >= MOST_GPUS) break;
        const gpu = gpuName(node, latest.gpu);
        const { asOfNs, busyNs, launched, preemptions } = latest;
        const { kills, saves, drains } = preemptions;
        // A node of an earlier version does not say how many launches it has had.
        const sums: Sums = { asOfNs, busyNs, launched: launched ?? 0, kills, saves, drains };
        next.set(gpu, sums);
        const before = this.seen.get(gpu);
        // A thread that died begins anew.
        if (before === undefined || asOfNs < before.asOfNs) continue;
        const elapsedNs = asOfNs - before.asOfNs;
        figures.push({
          gpu,
          busyShare: elapsedNs > 0 ? Math.min(1, (busyNs - before.busyNs) / elapsedNs) : 0,
          launchesPerSecond: seconds > 0 ? (sums.launched - before.launched) / seconds : 0,
          kills: kills - before.kills,
          saves: saves - before.saves,
          drains: drains - before.drains,
        });
      }
    }
    this.seen = next;
    return figures;
  }
}
