import { gpuStatus, type GpuStatus } from './gpuStatus.js';
import type { NodeReport } from './nodeHost.js';

/** A GPU among those of all nodes. */
export interface NumberedGpu {
  readonly report: NodeReport;
  /** Numbered through all nodes, as those of one host are: the same whether other nodes have samples or not. */
  readonly index: number;
  readonly status: GpuStatus;
}

/** The GPUs that have a sample. */
export function numberedGpus(reports: readonly NodeReport[]): readonly NumberedGpu[] {
  let first = 0;
  return reports.flatMap((report) => {
    const before = first;
    first += report.room.gpus.length;
    return report.spans.map((span) => {
      const status = gpuStatus(report.node, span);
      return { report, index: before + status.gpu, status };
    });
  });
}
