import type { GpuNode } from '../../simulator/cluster/index.js';
import type { SmCounts } from '../../simulator/gpu/index.js';

/** What one GPU of a watched node has done since the watching began, in the node's own time. */
export interface GpuActivity extends SmCounts {
  readonly gpu: number;
  /** Device profile. */
  readonly profile: string;
}

/** Begins to count on every GPU of the node afresh, or stops. */
export function watchGpus(node: GpuNode, watched: boolean): void {
  node.profiles.forEach((_, gpu) => node.device(gpu).watchSms(watched));
}

/** Of the GPUs that are watched. */
export function gpuActivities(node: GpuNode): readonly GpuActivity[] {
  return node.profiles.flatMap(({ name }, gpu) => {
    const counts = node.device(gpu).smCounts();
    return counts === undefined ? [] : [{ gpu, profile: name, ...counts }];
  });
}
