import { contextBytes } from '../../../simulator/driver/index.js';
import { findCard } from '../../../simulator/gpu/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import {
  BATCHES_IN_FLIGHT,
  loadGolden,
  loadKernelModel,
  replicaBytes,
  type GoldenSet,
  type KernelModel,
} from '../../models/index.js';
import { VirtualNode } from '../virtualNode.js';
import { DeviceMeter } from './deviceMeter.js';
import { runGolden, type GoldenReport } from './goldenTrial.js';
import { TrialClient } from './trialClient.js';
import { measuringInputs } from './trialInputs.js';

export interface ModelTrialOptions {
  /** A device profile, `h200` unless given. */
  readonly device?: string;
}

/** One batch size, measured alone on the device. */
export interface BatchTrial {
  readonly batchSize: number;
  /** Simulated time from the batch's arrival at the container to its answer. */
  readonly latencyUs: number;
  /** Batches one after the other. */
  readonly queriesPerSecond: number;
  readonly threadInstructionsPerQuery: number;
}

export interface ModelTrialReport {
  readonly folder: string;
  readonly model: string;
  readonly device: string;
  readonly memory: {
    readonly weightBytes: number;
    /** Inputs, buffers and outputs of one batch in flight. */
    readonly bytesPerBatchInFlight: number;
    readonly batchesInFlight: number;
    /** Of the device, before anything is allocated. */
    readonly contextBytes: number;
    /** Variables of its modules, the heap of its kernels and the buffer of `printf`. */
    readonly moduleBytes: number;
    /** What one replica took of the device; planned when it could not start. */
    readonly peakBytes: number;
    readonly deviceBytes: number;
  };
  /** The device takes the model: its memory and every launch. */
  readonly fits: boolean;
  /** Why it does not, or why it does not start for another reason. */
  readonly problem: string | undefined;
  /** Undefined without golden inputs, and when the model does not start. */
  readonly golden: GoldenReport | undefined;
  readonly threadInstructionsLimit: number;
  readonly batches: readonly BatchTrial[];
}

/**
 * Runs a model's folder on a simulated device of its own, in virtual time: its golden inputs, then batches of 1, 2, 4, … up
 * to its largest. Two runs of the same folder report the same.
 * @param folder absolute.
 * @throws ModelError when the folder cannot be loaded.
 */
export function tryModel(folder: string, options: ModelTrialOptions = {}): ModelTrialReport {
  const model = loadKernelModel(folder);
  const golden = loadGolden(model);
  const { device = 'h200' } = options;
  const planned = plannedBytes(model);
  const { memory } = model;
  const { profile } = findCard(device, '.');
  const deviceBytes = profile.memory.declaredBytes;
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock, gpus: [profile] });
  const meter = new DeviceMeter();
  node.gpuNode.interpose(meter);
  const { manifest } = model;
  const client = new TrialClient(
    node.start({
      model: manifest.name,
      version: '1',
      replica: '0',
      inputType: manifest.inputs[0].type,
      path: model.folder,
    }),
    () => clock.run(),
  );
  const measured = client.isReady
    ? measure(model, golden, client, meter)
    : { golden: undefined, batches: [] };
  // Nothing is given back before its end.
  const { usedBytes } = node.gpuNode.reading(0);
  node.close(() => undefined);
  return {
    folder: model.folder,
    model: manifest.name,
    device,
    memory: {
      ...planned,
      batchesInFlight: BATCHES_IN_FLIGHT,
      contextBytes: contextBytes(profile),
      moduleBytes: memory.moduleBytes,
      peakBytes: client.isReady ? usedBytes : replicaBytes(memory, contextBytes(profile)),
      deviceBytes,
    },
    fits: client.isReady,
    problem: client.isReady ? undefined : (client.downReason ?? 'the container never became ready'),
    threadInstructionsLimit: manifest.limits.threadInstructionsPerQuery,
    ...measured,
  };
}

function measure(
  model: KernelModel,
  golden: GoldenSet | undefined,
  client: TrialClient,
  meter: DeviceMeter,
): Pick<ModelTrialReport, 'golden' | 'batches'> {
  const { manifest } = model;
  const report = golden === undefined ? undefined : runGolden(client, manifest, golden);
  const inputs = measuringInputs(model, golden);
  const batches = batchSizes(manifest.maxBatchSize).map((batchSize) => {
    const before = meter.threadInstructions;
    const { serviceNs } = client.ask(Array.from({ length: batchSize }, (_, k) => inputs[k % inputs.length]));
    return {
      batchSize,
      latencyUs: serviceNs / 1e3,
      queriesPerSecond: (batchSize * 1e9) / serviceNs,
      threadInstructionsPerQuery: (meter.threadInstructions - before) / batchSize,
    };
  });
  return { golden: report, batches };
}

/** 1, 2, 4, … and the largest. */
function batchSizes(largest: number): number[] {
  const sizes: number[] = [];
  for (let size = 1; size < largest; size *= 2) sizes.push(size);
  return [...sizes, largest];
}

function plannedBytes({ regions }: KernelModel): { weightBytes: number; bytesPerBatchInFlight: number } {
  let weightBytes = 0;
  let bytesPerBatchInFlight = 0;
  for (const { kind, bytes } of regions) {
    if (kind === 'weight') weightBytes += bytes;
    else bytesPerBatchInFlight += bytes;
  }
  return { weightBytes, bytesPerBatchInFlight };
}
