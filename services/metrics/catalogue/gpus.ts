import { counter, gauge, histogram } from '../metric.js';

const GPU = ['gpu', 'node'] as const;
const CARD = ['gpu', 'UUID', 'device', 'modelName', 'Hostname', 'node'] as const;

/** Of every GPU, also while its node is down. */
export const GPU_ROOM_METRICS = {
  windjammer_gpu_replicas: gauge(GPU, 'Replicas that hold memory of a GPU'),
  windjammer_gpu_reserved_bytes: gauge(
    GPU,
    'Memory that replicas of a GPU hold, those that are starting among them',
    'bytes',
  ),
  windjammer_gpu_free_bytes: gauge(GPU, 'Memory of a GPU for further replicas', 'bytes'),
  windjammer_gpu_waiting_batches: gauge(GPU, 'Batches that were sent to a GPU and not answered'),
} as const;

/** Of GPUs on which faults strike, or are made ready for. */
export const FAULT_METRICS = {
  windjammer_gpu_faults_total: counter(
    ['gpu', 'node', 'outcome'],
    'Runs of launches that a transient fault struck: reexecuted (run again as they were), restored (run again once their saved memory was back), unrecovered (the fault ended the context)',
  ),
  windjammer_gpu_saved_launches_total: counter(
    GPU,
    'Launches whose memory was saved before they began, so that they could be restored after a fault',
  ),
  windjammer_gpu_saved_bytes_total: counter(GPU, 'What was saved of them', 'bytes'),
  windjammer_gpu_saving_seconds_total: counter(GPU, 'Time that saving has taken (in simulated s)', 'seconds'),
  windjammer_gpu_recovery_seconds_total: counter(
    GPU,
    'From faults until launches ran again, restoring included (in simulated s)',
    'seconds',
  ),
  windjammer_gpu_unprotected_launches_total: counter(
    GPU,
    'Launches that began so that a fault would have ended their context, under a scheme that recovers',
  ),
} as const;

/** Under the names, units and meanings of NVIDIA's DCGM exporter. */
export const DCGM_METRICS = {
  DCGM_FI_DEV_SM_CLOCK: gauge(CARD, 'SM clock frequency (in MHz)'),
  DCGM_FI_DEV_MEM_CLOCK: gauge(CARD, 'Memory clock frequency (in MHz)'),
  DCGM_FI_DEV_POWER_USAGE: gauge(CARD, 'Power draw (in W)'),
  DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION: counter(
    CARD,
    "Total energy consumption since the GPU's beginning (in mJ)",
  ),
  DCGM_FI_DEV_GPU_UTIL: gauge(CARD, 'GPU utilization (in %): time with a block on the GPU'),
  DCGM_FI_DEV_MEM_COPY_UTIL: gauge(
    CARD,
    "Memory utilization (in %): bytes moved, of the bandwidth by the card's data sheet",
  ),
  DCGM_FI_DEV_FB_FREE: gauge(CARD, 'Framebuffer memory free (in MiB)'),
  DCGM_FI_DEV_FB_USED: gauge(CARD, 'Framebuffer memory used (in MiB)'),
  DCGM_FI_PROF_GR_ENGINE_ACTIVE: gauge(CARD, 'Ratio of time that the compute engine is active'),
  DCGM_FI_PROF_SM_ACTIVE: gauge(CARD, 'Ratio of cycles that an SM has a warp assigned, averaged over SMs'),
  DCGM_FI_PROF_SM_OCCUPANCY: gauge(
    CARD,
    'Ratio of warps resident on an SM to the most that it holds, averaged over SMs',
  ),
  DCGM_FI_PROF_PIPE_FP32_ACTIVE: gauge(CARD, 'Ratio of cycles that the fp32 pipes are active'),
  DCGM_FI_PROF_PIPE_FP64_ACTIVE: gauge(CARD, 'Ratio of cycles that the fp64 pipes are active'),
  DCGM_FI_PROF_DRAM_ACTIVE: gauge(
    CARD,
    'Ratio of cycles that the memory interface is active, by bytes moved',
  ),
  DCGM_FI_PROF_PCIE_TX_BYTES: gauge(
    CARD,
    'Payload that the GPU sends over PCIe, in bytes a second; counted when a copy ends',
  ),
  DCGM_FI_PROF_PCIE_RX_BYTES: gauge(
    CARD,
    'Payload that the GPU receives over PCIe, in bytes a second; counted when a copy ends',
  ),
} as const;

/** What scheduling policies do, which no exporter tells of real ones. */
export const PREEMPTION_METRICS = {
  windjammer_gpu_launches_killed_total: counter(
    GPU,
    'Times that the scheduling policy killed a launch, which then ran again',
  ),
  windjammer_gpu_launches_saved_total: counter(
    GPU,
    'Times that the scheduling policy copied out what a launch had on the SMs',
  ),
  windjammer_gpu_launches_drained_total: counter(
    GPU,
    'Times that the scheduling policy waited for what a launch had on the SMs',
  ),
  windjammer_gpu_wasted_block_seconds_total: counter(
    GPU,
    'Time of blocks on the SMs that counts for nothing, since their launches were killed (in simulated s)',
    'seconds',
  ),
  windjammer_gpu_critical_launches_total: counter(GPU, 'Launches of class critical that have begun'),
  windjammer_gpu_critical_wait_seconds_total: counter(
    GPU,
    'What launches of class critical waited for SMs (in simulated s)',
    'seconds',
  ),
} as const;

/** What nodes find of launches, whether they may be killed and run again. */
export const VERDICT_METRICS = {
  windjammer_gpu_verdicts_total: counter(
    ['node', 'verdict', 'cause'],
    'Launches judged before they run: idempotent (may be killed and run again), refused by cause, pending (the kernel is not analysed yet)',
  ),
  windjammer_gpu_verdict_latency_seconds: histogram(
    ['node'],
    "What a verdict takes the host; simulated time is charged the model's constants instead",
    'seconds',
  ),
  windjammer_gpu_kernels_analysed: gauge(
    ['node', 'class'],
    'Kernels analysed, by class: all launches idempotent, none shown to be, or as arguments decide',
  ),
  windjammer_gpu_kernels_waiting: gauge(
    ['node'],
    'Kernels that wait to be analysed; their launches count as not idempotent meanwhile',
  ),
  windjammer_gpu_analyses_total: counter(
    ['node', 'outcome'],
    'Kernels that were to be analysed in the background: analysed, remembered (from before, or from disk), failed (the kernel stays unknown)',
  ),
  windjammer_gpu_kernels_improved_total: counter(
    ['node'],
    'Kernels of which z3 has found more than their analysis alone',
  ),
  windjammer_gpu_analysis_seconds_total: counter(
    ['node'],
    'Host time that background analysis has taken, z3 included, in threads of its own',
    'seconds',
  ),
  windjammer_gpu_analysis_longest_seconds: gauge(
    ['node'],
    'Host time of the kernel that took longest',
    'seconds',
  ),
} as const;
