import {
  numberedGpus,
  type GpuRoom,
  type GpuStatus,
  type NodeReport,
  type NumberedGpu,
} from '../../containers/runtime/index.js';
import { DCGM_METRICS, FAULT_METRICS, GPU_ROOM_METRICS, PREEMPTION_METRICS } from '../metrics/index.js';
import {
  familiesOf,
  labelText,
  withLabels,
  type LabelText,
  type MetricFamily,
  type ValueWriter,
} from './metricFamily.js';

const MIB = 1024 * 1024;

type Gpu = 'gpu' | 'node';
type Card = Gpu | 'UUID' | 'device' | 'modelName' | 'Hostname';
type FaultTotals = NonNullable<GpuStatus['faults']>;

const FAULT_OUTCOMES = ['reexecuted', 'restored', 'unrecovered'] as const;

/** GPUs of all nodes are numbered through, as those of one host are. @param hostname of the machine that simulates them */
export function gpuFamilies(nodes: () => readonly NodeReport[], hostname: string): readonly MetricFamily[] {
  return [
    ...roomFamilies(nodes),
    // One scrape reads all families in turn, and nodes report new samples meanwhile: each reads what there is then.
    ...faultFamilies(() => numberedGpus(nodes())),
    ...dcgmFamilies(() => numberedGpus(nodes()), hostname),
    ...preemptionFamilies(() => numberedGpus(nodes())),
  ];
}

function roomFamilies(nodes: () => readonly NodeReport[]): readonly MetricFamily[] {
  const each = (read: (room: GpuRoom) => number) => (to: ValueWriter<Gpu>) => {
    let index = 0;
    for (const { node, room } of nodes()) {
      for (const gpu of room.gpus) to.value(labelText({ gpu: String(index++), node }), read(gpu));
    }
  };
  return familiesOf(GPU_ROOM_METRICS, {
    windjammer_gpu_replicas: each(({ replicas }) => replicas),
    windjammer_gpu_reserved_bytes: each(({ reservedBytes }) => reservedBytes),
    windjammer_gpu_free_bytes: each(({ freeBytes }) => freeBytes),
    windjammer_gpu_waiting_batches: each(({ batchesInFlight }) => batchesInFlight),
  });
}

function faultFamilies(gpus: () => readonly NumberedGpu[]): readonly MetricFamily[] {
  function* struck(): IterableIterator<readonly [LabelText<Gpu>, FaultTotals]> {
    for (const { report, index, status } of gpus()) {
      if (status.faults !== undefined)
        yield [labelText({ gpu: String(index), node: report.node }), status.faults];
    }
  }
  const each = (read: (faults: FaultTotals) => number) => (to: ValueWriter<Gpu>) => {
    for (const [labels, faults] of struck()) to.value(labels, read(faults));
  };
  return familiesOf(FAULT_METRICS, {
    windjammer_gpu_faults_total: (to) => {
      for (const [labels, faults] of struck()) {
        for (const outcome of FAULT_OUTCOMES) to.value(withLabels(labels, { outcome }), faults[outcome]);
      }
    },
    windjammer_gpu_saved_launches_total: each(({ savedLaunches }) => savedLaunches),
    windjammer_gpu_saved_bytes_total: each(({ savedBytes }) => savedBytes),
    windjammer_gpu_saving_seconds_total: each(({ saveNs }) => saveNs / 1e9),
    windjammer_gpu_recovery_seconds_total: each(({ recoveryNs }) => recoveryNs / 1e9),
    windjammer_gpu_unprotected_launches_total: each(({ unprotected }) => unprotected),
  });
}

function dcgmFamilies(gpus: () => readonly NumberedGpu[], hostname: string): readonly MetricFamily[] {
  const each = (read: (status: GpuStatus) => number) => (to: ValueWriter<Card>) => {
    for (const { report, index, status } of gpus()) {
      to.value(cardLabels(index, report.node, status, hostname), read(status));
    }
  };
  return familiesOf(DCGM_METRICS, {
    DCGM_FI_DEV_SM_CLOCK: each(({ smClockHz }) => smClockHz / 1e6),
    DCGM_FI_DEV_MEM_CLOCK: each(({ memoryClockHz }) => memoryClockHz / 1e6),
    DCGM_FI_DEV_POWER_USAGE: each(({ powerWatts }) => powerWatts),
    DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION: each(({ energyMillijoules }) => energyMillijoules),
    DCGM_FI_DEV_GPU_UTIL: each(({ busyShare }) => 100 * busyShare),
    DCGM_FI_DEV_MEM_COPY_UTIL: each(({ memoryShare }) => 100 * memoryShare),
    DCGM_FI_DEV_FB_FREE: each(({ totalBytes, usedBytes }) => (totalBytes - usedBytes) / MIB),
    DCGM_FI_DEV_FB_USED: each(({ usedBytes }) => usedBytes / MIB),
    DCGM_FI_PROF_GR_ENGINE_ACTIVE: each(({ busyShare }) => busyShare),
    DCGM_FI_PROF_SM_ACTIVE: each(({ smActiveShare }) => smActiveShare),
    DCGM_FI_PROF_SM_OCCUPANCY: each(({ occupancyShare }) => occupancyShare),
    DCGM_FI_PROF_PIPE_FP32_ACTIVE: each(({ float32Share }) => float32Share),
    DCGM_FI_PROF_PIPE_FP64_ACTIVE: each(({ float64Share }) => float64Share),
    DCGM_FI_PROF_DRAM_ACTIVE: each(({ memoryShare }) => memoryShare),
    DCGM_FI_PROF_PCIE_TX_BYTES: each(({ toHostBytesPerSecond }) => toHostBytesPerSecond),
    DCGM_FI_PROF_PCIE_RX_BYTES: each(({ toDeviceBytesPerSecond }) => toDeviceBytesPerSecond),
  });
}

function preemptionFamilies(gpus: () => readonly NumberedGpu[]): readonly MetricFamily[] {
  const each = (read: (status: GpuStatus) => number) => (to: ValueWriter<Gpu>) => {
    for (const { report, index, status } of gpus()) {
      to.value(labelText({ gpu: String(index), node: report.node }), read(status));
    }
  };
  return familiesOf(PREEMPTION_METRICS, {
    windjammer_gpu_launches_killed_total: each(({ preemptions }) => preemptions.kills),
    windjammer_gpu_launches_saved_total: each(({ preemptions }) => preemptions.saves),
    windjammer_gpu_launches_drained_total: each(({ preemptions }) => preemptions.drains),
    windjammer_gpu_wasted_block_seconds_total: each(({ preemptions }) => preemptions.wastedBlockNs / 1e9),
    windjammer_gpu_critical_launches_total: each(({ preemptions }) => preemptions.criticalLaunches),
    windjammer_gpu_critical_wait_seconds_total: each(({ preemptions }) => preemptions.criticalWaitNs / 1e9),
  });
}

function cardLabels(
  index: number,
  node: string,
  { uuid, productName }: GpuStatus,
  hostname: string,
): LabelText<Card> {
  return labelText({
    gpu: String(index),
    UUID: uuid,
    device: `nvidia${index}`,
    modelName: productName,
    Hostname: hostname,
    node,
  });
}
