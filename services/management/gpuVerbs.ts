import { z } from 'zod';
import {
  gpuName,
  numberedGpus,
  type ContextStatus,
  type NodeReport,
  type NumberedGpu,
} from '../../containers/runtime/index.js';
import type { ReplicaStatus as QueueStatus } from '../prediction/index.js';
import { JsonText, verb, type AdminVerb } from './verb.js';

export interface GpuSources {
  readonly nodes: () => readonly NodeReport[];
  /** Replicas with their queues. */
  readonly queues: () => readonly QueueStatus[];
  /** @throws ServiceError (as a rejection) */
  readonly recordTimeline: (request: {
    readonly node?: string | undefined;
    readonly seconds: number;
    readonly limit: number;
    /** Ends it early. */
    readonly gone: AbortSignal;
  }) => Promise<string>;
}

/** A recording holds its answer, and the server holds that in memory. */
const LONGEST_RECORDING_S = 60;
const LARGEST_RECORDING_MIB = 64;
const MIB = 1024 * 1024;

export const timelineSchema = z.strictObject({
  node: z.string().min(1).max(128).optional().describe('A GPU node; the first one when left out'),
  seconds: z
    .number()
    .min(0.01)
    .max(LONGEST_RECORDING_S)
    .default(5)
    .describe("For so long, in host time; the timeline's own times are simulated"),
  max_mib: z
    .number()
    .min(0.0625)
    .max(LARGEST_RECORDING_MIB)
    .default(16)
    .describe('Of text; events beyond it are left out, and counted in droppedEvents'),
});

const share = z.number().min(0).max(1);

export const contextAnswer = z.object({
  context: z.int(),
  model_name: z.string().optional(),
  model_version: z.string().optional(),
  replica_id: z.string().optional(),
  used_bytes: z.number(),
  sm_share: share.describe("Its part of sm_active, by its warps among the GPU's"),
  commands: z.int().describe('Commands in its streams'),
  queued_inputs: z.int().optional().describe("Inputs that wait in the replica's queue"),
  in_flight_inputs: z.int().optional().describe('Inputs that the replica works on'),
});

export const gpuAnswer = z.object({
  node: z.string(),
  gpu: z.string().describe('Its name, NODE/INDEX: what a model is pinned to'),
  index: z.int().describe("Among all of the server's GPUs"),
  uuid: z.string(),
  name: z.string().describe('As its maker calls it'),
  profile: z.string(),
  is_measured: z.boolean().describe("Whether the profile's times were held against a real card"),
  dilation: z
    .number()
    .nullable()
    .describe(
      'Host time over simulated time with a batch in flight: above 1 the host is slower than the card',
    ),
  host_busy: share
    .nullable()
    .describe("Of the host's time lately, the part in which the node had a batch in flight"),
  clock_lag_seconds: z.number().describe('The most that a simulated event came late on the host'),
  simulated_seconds: z.number().describe('What shares and rates cover, in the simulated time'),
  sm_clock_hz: z.number(),
  memory_clock_hz: z.number(),
  utilization: z.object({
    gpu: share.describe('Time with a block on the GPU'),
    memory: share.describe("Bytes moved, of the memory's bandwidth by its data sheet"),
    sm_active: share.describe('SM-time with a block'),
    sm_occupancy: share.describe('Resident warps, of those that the SMs could hold'),
    fp32_pipe: share,
    fp64_pipe: share,
  }),
  memory: z.object({
    total_bytes: z.number(),
    used_bytes: z.number().describe('Contexts, modules and allocations'),
    reserved_bytes: z.number().describe('By replicas, those that are starting among them'),
    free_bytes: z.number().describe('For further replicas'),
    bytes_per_second: z.number(),
  }),
  power: z.object({
    draw_watts: z.number().describe('On average'),
    limit_watts: z.number(),
    energy_joules: z.number().describe("Since the GPU's beginning"),
    throttle: z
      .enum(['none', 'applicationClock', 'powerCap'])
      .describe('Why the SM clock is below its highest'),
  }),
  pcie: z.object({
    to_device_bytes_per_second: z.number(),
    to_host_bytes_per_second: z.number(),
  }),
  is_cordoned: z.boolean().describe('It takes no replica more'),
  launches: z.int().describe('Launches on the GPU, those without a block on it yet among them'),
  contexts: z.array(contextAnswer),
});

export type GpuAnswer = z.infer<typeof gpuAnswer>;
export type GpuContextAnswer = z.infer<typeof contextAnswer>;
export type TimelineFields = z.input<typeof timelineSchema>;

/** What the simulated GPUs do. */
export function gpuVerbs({ nodes, queues, recordTimeline }: GpuSources): AdminVerb[] {
  return [
    verb('get_gpus', {
      summary: 'Every simulated GPU: what it does, its memory, and who uses it; of the last second or so',
      request: z.strictObject({}),
      answer: gpuAnswer.array(),
      changes: 'nothing',
      run: () => gpuAnswers(nodes(), queues()),
    }),
    verb('record_gpu_timeline', {
      summary:
        "Record what a node's GPUs do for a while, and answer with it in Chrome's trace event format, which Perfetto opens",
      request: timelineSchema,
      answer: z.object({ traceEvents: z.array(z.object({})), droppedEvents: z.int() }),
      errors: ['unknown_node', 'recording', 'node_down'],
      changes: 'nothing',
      run: async ({ node, seconds, max_mib: mib }, gone) =>
        new JsonText(await recordTimeline({ node, seconds, limit: mib * MIB, gone })),
    }),
  ];
}

function gpuAnswers(nodes: readonly NodeReport[], queues: readonly QueueStatus[]): GpuAnswer[] {
  const queueOf = new Map(queues.map((queue) => [keyOf(queue.model, queue.version, queue.replica), queue]));
  return numberedGpus(nodes).map((gpu) => gpuJson(gpu, queueOf));
}

function gpuJson(
  { report, index, status }: NumberedGpu,
  queueOf: ReadonlyMap<string, QueueStatus>,
): GpuAnswer {
  const { node, dilation, hostBusyShare, clockLagSeconds, room } = report;
  const { reservedBytes, freeBytes, isCordoned } = room.gpus[status.gpu];
  return {
    node,
    gpu: gpuName(node, status.gpu),
    index,
    uuid: status.uuid,
    name: status.productName,
    profile: status.profile,
    is_measured: status.isMeasured,
    dilation: dilation ?? null,
    host_busy: hostBusyShare ?? null,
    clock_lag_seconds: clockLagSeconds,
    simulated_seconds: status.spanNs / 1e9,
    sm_clock_hz: status.smClockHz,
    memory_clock_hz: status.memoryClockHz,
    utilization: {
      gpu: status.busyShare,
      memory: status.memoryShare,
      sm_active: status.smActiveShare,
      sm_occupancy: status.occupancyShare,
      fp32_pipe: status.float32Share,
      fp64_pipe: status.float64Share,
    },
    memory: {
      total_bytes: status.totalBytes,
      used_bytes: status.usedBytes,
      reserved_bytes: reservedBytes,
      free_bytes: freeBytes,
      bytes_per_second: status.memoryBytesPerSecond,
    },
    is_cordoned: isCordoned,
    power: {
      draw_watts: status.powerWatts,
      limit_watts: status.powerLimitWatts,
      energy_joules: status.energyMillijoules / 1000,
      throttle: status.throttle,
    },
    pcie: {
      to_device_bytes_per_second: status.toDeviceBytesPerSecond,
      to_host_bytes_per_second: status.toHostBytesPerSecond,
    },
    launches: status.launches,
    contexts: status.contexts.map((context) => contextJson(context, queueOf)),
  };
}

function contextJson(
  { context, owner, usedBytes, smShare, queued }: ContextStatus,
  queueOf: ReadonlyMap<string, QueueStatus>,
): GpuContextAnswer {
  const queue =
    owner === undefined ? undefined : queueOf.get(keyOf(owner.model, owner.version, owner.replica));
  return {
    context,
    ...(owner === undefined
      ? {}
      : { model_name: owner.model, model_version: owner.version, replica_id: owner.replica }),
    used_bytes: usedBytes,
    sm_share: smShare,
    commands: queued,
    ...(queue === undefined ? {} : { queued_inputs: queue.queued, in_flight_inputs: queue.inFlightItems }),
  };
}

function keyOf(model: string, version: string, replica: string): string {
  return JSON.stringify([model, version, replica]);
}
