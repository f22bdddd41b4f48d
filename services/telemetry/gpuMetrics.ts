import {
  numberedGpus,
  type GpuRoom,
  type GpuStatus,
  type NodeReport,
  type NumberedGpu,
} from '../../containers/runtime/index.js';
import { labelText, type MetricFamily, type MetricType, type SampleWriter } from './metricFamily.js';

const MIB = 1024 * 1024;
const LABELS = ['gpu', 'UUID', 'device', 'modelName', 'Hostname', 'node'] as const;

type Reader = readonly [name: string, type: MetricType, help: string, read: (status: GpuStatus) => number];

/** Under the names, units and meanings of NVIDIA's DCGM exporter. */
const READERS: readonly Reader[] = [
  ['DCGM_FI_DEV_SM_CLOCK', 'gauge', 'SM clock frequency (in MHz)', ({ smClockHz }) => smClockHz / 1e6],
  [
    'DCGM_FI_DEV_MEM_CLOCK',
    'gauge',
    'Memory clock frequency (in MHz)',
    ({ memoryClockHz }) => memoryClockHz / 1e6,
  ],
  ['DCGM_FI_DEV_POWER_USAGE', 'gauge', 'Power draw (in W)', ({ powerWatts }) => powerWatts],
  [
    'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION',
    'counter',
    "Total energy consumption since the GPU's beginning (in mJ)",
    ({ energyMillijoules }) => energyMillijoules,
  ],
  [
    'DCGM_FI_DEV_GPU_UTIL',
    'gauge',
    'GPU utilization (in %): time with a block on the GPU',
    ({ busyShare }) => 100 * busyShare,
  ],
  [
    'DCGM_FI_DEV_MEM_COPY_UTIL',
    'gauge',
    "Memory utilization (in %): bytes moved, of the bandwidth by the card's data sheet",
    ({ memoryShare }) => 100 * memoryShare,
  ],
  [
    'DCGM_FI_DEV_FB_FREE',
    'gauge',
    'Framebuffer memory free (in MiB)',
    ({ totalBytes, usedBytes }) => (totalBytes - usedBytes) / MIB,
  ],
  ['DCGM_FI_DEV_FB_USED', 'gauge', 'Framebuffer memory used (in MiB)', ({ usedBytes }) => usedBytes / MIB],
  [
    'DCGM_FI_PROF_GR_ENGINE_ACTIVE',
    'gauge',
    'Ratio of time that the compute engine is active',
    ({ busyShare }) => busyShare,
  ],
  [
    'DCGM_FI_PROF_SM_ACTIVE',
    'gauge',
    'Ratio of cycles that an SM has a warp assigned, averaged over SMs',
    ({ smActiveShare }) => smActiveShare,
  ],
  [
    'DCGM_FI_PROF_SM_OCCUPANCY',
    'gauge',
    'Ratio of warps resident on an SM to the most that it holds, averaged over SMs',
    ({ occupancyShare }) => occupancyShare,
  ],
  [
    'DCGM_FI_PROF_PIPE_FP32_ACTIVE',
    'gauge',
    'Ratio of cycles that the fp32 pipes are active',
    ({ float32Share }) => float32Share,
  ],
  [
    'DCGM_FI_PROF_PIPE_FP64_ACTIVE',
    'gauge',
    'Ratio of cycles that the fp64 pipes are active',
    ({ float64Share }) => float64Share,
  ],
  [
    'DCGM_FI_PROF_DRAM_ACTIVE',
    'gauge',
    'Ratio of cycles that the memory interface is active, by bytes moved',
    ({ memoryShare }) => memoryShare,
  ],
  [
    'DCGM_FI_PROF_PCIE_TX_BYTES',
    'gauge',
    'Payload that the GPU sends over PCIe, in bytes a second; counted when a copy ends',
    ({ toHostBytesPerSecond }) => toHostBytesPerSecond,
  ],
  [
    'DCGM_FI_PROF_PCIE_RX_BYTES',
    'gauge',
    'Payload that the GPU receives over PCIe, in bytes a second; counted when a copy ends',
    ({ toDeviceBytesPerSecond }) => toDeviceBytesPerSecond,
  ],
];

const OWN_LABELS = ['gpu', 'node'] as const;

type FaultTotals = NonNullable<GpuStatus['faults']>;
type FaultReader = readonly [name: string, help: string, read: (faults: FaultTotals) => number];

/** Of GPUs on which faults strike, or are made ready for. */
const FAULT_READERS: readonly FaultReader[] = [
  [
    'windjammer_gpu_saved_launches_total',
    'Launches whose memory was saved before they began, so that they could be restored after a fault',
    ({ savedLaunches }) => savedLaunches,
  ],
  ['windjammer_gpu_saved_bytes_total', 'What was saved of them', ({ savedBytes }) => savedBytes],
  [
    'windjammer_gpu_saving_seconds_total',
    'Time that saving has taken (in simulated s)',
    ({ saveNs }) => saveNs / 1e9,
  ],
  [
    'windjammer_gpu_recovery_seconds_total',
    'From faults until launches ran again, restoring included (in simulated s)',
    ({ recoveryNs }) => recoveryNs / 1e9,
  ],
  [
    'windjammer_gpu_unprotected_launches_total',
    'Launches that began so that a fault would have ended their context, under a scheme that recovers',
    ({ unprotected }) => unprotected,
  ],
];

const FAULT_OUTCOMES = ['reexecuted', 'restored', 'unrecovered'] as const;

/** What scheduling policies do, which no exporter tells of real ones. */
const OWN_READERS: readonly Reader[] = [
  [
    'windjammer_gpu_launches_killed_total',
    'counter',
    'Times that the scheduling policy killed a launch, which then ran again',
    ({ preemptions }) => preemptions.kills,
  ],
  [
    'windjammer_gpu_launches_saved_total',
    'counter',
    'Times that the scheduling policy copied out what a launch had on the SMs',
    ({ preemptions }) => preemptions.saves,
  ],
  [
    'windjammer_gpu_launches_drained_total',
    'counter',
    'Times that the scheduling policy waited for what a launch had on the SMs',
    ({ preemptions }) => preemptions.drains,
  ],
  [
    'windjammer_gpu_wasted_block_seconds_total',
    'counter',
    'Time of blocks on the SMs that counts for nothing, since their launches were killed (in simulated s)',
    ({ preemptions }) => preemptions.wastedBlockNs / 1e9,
  ],
  [
    'windjammer_gpu_critical_launches_total',
    'counter',
    'Launches of class critical that have begun',
    ({ preemptions }) => preemptions.criticalLaunches,
  ],
  [
    'windjammer_gpu_critical_wait_seconds_total',
    'counter',
    'What launches of class critical waited for SMs (in simulated s)',
    ({ preemptions }) => preemptions.criticalWaitNs / 1e9,
  ],
];

type RoomReader = readonly [name: string, help: string, read: (room: GpuRoom) => number];

/** Of every GPU, also while its node is down. */
const ROOM_READERS: readonly RoomReader[] = [
  ['windjammer_gpu_replicas', 'Replicas that hold memory of a GPU', ({ replicas }) => replicas],
  [
    'windjammer_gpu_reserved_bytes',
    'Memory that replicas of a GPU hold, those that are starting among them',
    ({ reservedBytes }) => reservedBytes,
  ],
  ['windjammer_gpu_free_bytes', 'Memory of a GPU for further replicas', ({ freeBytes }) => freeBytes],
  [
    'windjammer_gpu_waiting_batches',
    'Batches that were sent to a GPU and not answered',
    ({ batchesInFlight }) => batchesInFlight,
  ],
];

function roomFamilies(nodes: () => readonly NodeReport[]): MetricFamily[] {
  return ROOM_READERS.map(([name, help, read]) => ({
    name,
    type: 'gauge',
    unit: name.endsWith('_bytes') ? 'bytes' : '',
    labels: OWN_LABELS,
    help,
    write: (to) => {
      let index = 0;
      for (const { node, room } of nodes()) {
        for (const gpu of room.gpus) to.value(labelText({ gpu: String(index++), node }), read(gpu));
      }
    },
  }));
}

/** GPUs of all nodes are numbered through, as those of one host are. @param hostname of the machine that simulates them */
export function gpuFamilies(nodes: () => readonly NodeReport[], hostname: string): readonly MetricFamily[] {
  // One scrape reads all families in turn, and nodes report new samples meanwhile: each reads what there is then.
  const gpus = (): readonly NumberedGpu[] => numberedGpus(nodes());
  const families = (
    readers: readonly Reader[],
    labels: readonly string[],
    textOf: (index: number, node: string, status: GpuStatus) => string,
  ): MetricFamily[] =>
    readers.map(([name, type, help, read]) => ({
      name,
      type,
      unit: name.endsWith('_seconds_total') ? 'seconds' : '',
      labels,
      help,
      write: (to) => {
        for (const { report, index, status } of gpus())
          to.value(textOf(index, report.node, status), read(status));
      },
    }));
  const ofFaults = (write: (to: SampleWriter, labels: string, faults: FaultTotals) => void) => {
    return (to: SampleWriter): void => {
      for (const { report, index, status } of gpus()) {
        if (status.faults !== undefined)
          write(to, labelText({ gpu: String(index), node: report.node }), status.faults);
      }
    };
  };
  return [
    ...roomFamilies(nodes),
    {
      name: 'windjammer_gpu_faults_total',
      type: 'counter',
      unit: '',
      labels: [...OWN_LABELS, 'outcome'],
      help: 'Runs of launches that a transient fault struck: reexecuted (run again as they were), restored (run again once their saved memory was back), unrecovered (the fault ended the context)',
      write: ofFaults((to, labels, faults) => {
        for (const outcome of FAULT_OUTCOMES) to.value(`${labels},outcome="${outcome}"`, faults[outcome]);
      }),
    },
    ...FAULT_READERS.map(([name, help, read]): MetricFamily => ({
      name,
      type: 'counter',
      unit: name.endsWith('_seconds_total') ? 'seconds' : name.endsWith('_bytes_total') ? 'bytes' : '',
      labels: OWN_LABELS,
      help,
      write: ofFaults((to, labels, faults) => to.value(labels, read(faults))),
    })),
    ...families(READERS, LABELS, (index, node, status) => gpuLabels(index, node, status, hostname)),
    ...families(OWN_READERS, OWN_LABELS, (index, node) =>
      labelText({ gpu: String(index), node } satisfies Record<(typeof OWN_LABELS)[number], string>),
    ),
  ];
}

function gpuLabels(index: number, node: string, { uuid, productName }: GpuStatus, hostname: string): string {
  return labelText({
    gpu: String(index),
    UUID: uuid,
    device: `nvidia${index}`,
    modelName: productName,
    Hostname: hostname,
    node,
  } satisfies Record<(typeof LABELS)[number], string>);
}
