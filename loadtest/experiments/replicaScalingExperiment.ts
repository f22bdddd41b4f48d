import type { ContainerChannel } from '../../containers/protocol/index.js';
import {
  InProcessChannel,
  NetworkChannel,
  SyntheticContainer,
} from '../../containers/runtime/testing/index.js';
import { PredictionEngine, type Answer, type Query } from '../../services/prediction/index.js';
import { MemoryStore } from '../../services/store/index.js';
import { HostNetwork } from '../../simulator/cluster/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { FixedRegistry } from './fixedRegistry.js';
import { ChargedChannel, FrontendCpu, type FrontendCosts } from './frontendCpu.js';

export const SEED = 20170327;
const NAME = 'images';
const FRONTEND = 'frontend';
/** One way between two hosts: switch and both kernels. */
const LATENCY_NS = 30_000;

/**
 * A server's own figures, taken with its load generator beside it on two cores: 12 µs a binary WebSocket query of 64
 * bytes, 35 µs one of 12,288; a frame to a container is copied together and written to a socket.
 */
export const FRONTEND_COSTS: FrontendCosts = {
  queryNs: 12_000,
  inputByteNs: 1.9,
  frameNs: 20_000,
  sentByteNs: 0.5,
};

export interface ScaledModel {
  readonly inputBytes: number;
  /** A batch of n takes a replica `fixedMs + n * itemMs`, give or take `jitter`. */
  readonly fixedMs: number;
  readonly itemMs: number;
  readonly jitter: number;
}

/** Colour images of 32 x 32 in float32, about 5,350 a second a replica. */
export const IMAGE_MODEL: ScaledModel = { inputBytes: 12_288, fixedMs: 1, itemMs: 0.18, jitter: 0.05 };

/** Digits of 28 x 28 in float32, about 19,500 a second a replica: the paper's own rate. */
export const DIGIT_MODEL: ScaledModel = { inputBytes: 3136, fixedMs: 1, itemMs: 0.0495, jitter: 0.05 };

/** Where the replicas are: on the frontend's host, or all but the first on hosts of their own behind such cards. */
export type Placement =
  { readonly kind: 'local' } | { readonly kind: 'remote'; readonly gbitPerSecond: number };

export interface ScalingSettings {
  readonly seed: number;
  readonly model: ScaledModel;
  readonly placement: Placement;
  readonly replicas: number;
  /** Closed-loop clients on the frontend's host for each replica: each asks again when it is answered. */
  readonly clientsPerReplica: number;
  readonly objectiveMs: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly costs: FrontendCosts;
}

export interface ScalingResult {
  readonly replicas: number;
  readonly inTimePerSecond: number;
  readonly perReplicaPerSecond: number;
  readonly defaultShare: number;
  /** Of one core. */
  readonly frontendCpuShare: number;
  /** On the wire out of the frontend's card. */
  readonly sentMbytePerSecond: number;
  /** Of the card's rate; 0 without one. */
  readonly cardShare: number;
}

/** One model with its replicas at one place, 1 to 4 of them. */
export interface ScalingCase {
  readonly name: string;
  readonly model: ScaledModel;
  readonly placement: Placement;
  readonly clientsPerReplica: number;
}

export interface ScalingSeries {
  readonly name: string;
  readonly inputBytes: number;
  readonly results: readonly ScalingResult[];
  /** All four over one. */
  readonly gain: number;
}

const MOST_REPLICAS = 4;

/** Clients keep two batches of each replica in flight, and leave some room to the objective. */
export const SCALING_CASES: readonly ScalingCase[] = [
  { name: 'images, all local', model: IMAGE_MODEL, placement: { kind: 'local' }, clientsPerReplica: 300 },
  {
    name: 'images, 10 Gb/s',
    model: IMAGE_MODEL,
    placement: { kind: 'remote', gbitPerSecond: 10 },
    clientsPerReplica: 300,
  },
  {
    name: 'images, 1 Gb/s',
    model: IMAGE_MODEL,
    placement: { kind: 'remote', gbitPerSecond: 1 },
    clientsPerReplica: 300,
  },
  {
    name: 'digits, 10 Gb/s',
    model: DIGIT_MODEL,
    placement: { kind: 'remote', gbitPerSecond: 10 },
    clientsPerReplica: 600,
  },
];

export const OBJECTIVE_MS = 100;

export function runScalingCase(
  one: ScalingCase,
  warmUpSeconds: number,
  seconds: number,
  seed = SEED,
): ScalingSeries {
  const { name, model, placement, clientsPerReplica } = one;
  const results = Array.from({ length: MOST_REPLICAS }, (_, at) =>
    runScaling({
      seed,
      model,
      placement,
      replicas: at + 1,
      clientsPerReplica,
      objectiveMs: OBJECTIVE_MS,
      warmUpSeconds,
      seconds,
      costs: FRONTEND_COSTS,
    }),
  );
  const gain = results[MOST_REPLICAS - 1].inTimePerSecond / results[0].inTimePerSecond;
  return { name, inputBytes: model.inputBytes, results, gain };
}

/** One run in virtual time, through the prediction engine: replicas of one model behind closed-loop clients. */
export function runScaling(settings: ScalingSettings): ScalingResult {
  const { model, replicas, warmUpSeconds, seconds, costs, placement, seed } = settings;
  const clock = new VirtualClock();
  const cpu = new FrontendCpu(clock, 'frontend cpu', costs);
  const network = networkOf(clock, placement, replicas);
  const engine = new PredictionEngine({
    clock,
    registry: registryOf(settings),
    store: new MemoryStore(),
    seed,
    cacheBytes: 0,
    recentQueries: 1024,
  });
  for (let replica = 0; replica < replicas; replica++) {
    engine.addReplica(new ChargedChannel(startReplica(clock, network, model, replica, seed), cpu));
  }
  clock.run();
  const beginNs = clock.nowNs() + warmUpSeconds * 1e9;
  const endNs = beginNs + seconds * 1e9;
  let answers = 0;
  let defaults = 0;
  let asked = 0;
  const ask = (): void => {
    const number = asked++;
    cpu.take(costs.queryNs + model.inputBytes * costs.inputByteNs, () => {
      const query = { id: `${number}`, application: NAME, context: '', input: inputOf(model, number) };
      engine.predict(query, sink);
    });
  };
  const sink = {
    onAnswer: (_query: Query, { isDefault }: Answer) => {
      const nowNs = clock.nowNs();
      if (nowNs >= beginNs && nowNs < endNs) {
        answers += 1;
        if (isDefault) defaults += 1;
      }
      if (nowNs < endNs) ask();
    },
    onRefusal: (_query: Query, refusal: { message: string }) => {
      throw new Error(refusal.message);
    },
  };
  for (let client = 0; client < settings.clientsPerReplica * replicas; client++) ask();
  clock.run(beginNs);
  const before = { busyNs: cpu.busyNs, bytes: network?.sentBytes(FRONTEND) ?? 0 };
  clock.run(endNs);
  const sentBytes = (network?.sentBytes(FRONTEND) ?? 0) - before.bytes;
  const busyNs = cpu.busyNs - before.busyNs;
  engine.close();
  const inTimePerSecond = (answers - defaults) / seconds;
  return {
    replicas,
    inTimePerSecond,
    perReplicaPerSecond: inTimePerSecond / replicas,
    defaultShare: answers === 0 ? 0 : defaults / answers,
    frontendCpuShare: busyNs / (seconds * 1e9),
    sentMbytePerSecond: sentBytes / seconds / 1e6,
    cardShare: placement.kind === 'local' ? 0 : (8 * sentBytes) / seconds / (placement.gbitPerSecond * 1e9),
  };
}

function networkOf(clock: VirtualClock, placement: Placement, replicas: number): HostNetwork | undefined {
  if (placement.kind === 'local') return undefined;
  return new HostNetwork({
    clock,
    name: 'network',
    hosts: [FRONTEND, ...Array.from({ length: replicas }, (_, replica) => hostOf(replica))],
    bitsPerSecond: placement.gbitPerSecond * 1e9,
    latencyNs: LATENCY_NS,
  });
}

/** The first replica is beside the frontend, as in the paper. */
function startReplica(
  clock: VirtualClock,
  network: HostNetwork | undefined,
  { fixedMs, itemMs, jitter }: ScaledModel,
  replica: number,
  seed: number,
): ContainerChannel {
  const channel =
    network === undefined || replica === 0
      ? new InProcessChannel(clock, `channel ${replica}`)
      : new NetworkChannel(network, FRONTEND, hostOf(replica));
  const service = {
    fixedNs: fixedMs * 1e6,
    itemNs: itemMs * 1e6,
    jitter: { share: jitter, seed: seed + replica },
    output: '7',
    inputType: 'bytes',
    maxBatchSize: 1024,
  } as const;
  const identity = { model: NAME, version: '1', replica: `${replica}` };
  channel.connect(new SyntheticContainer(clock, `container ${replica}`, identity, service, channel));
  return channel;
}

function hostOf(replica: number): string {
  return `node${replica}`;
}

/** Unlike all others. */
function inputOf({ inputBytes }: ScaledModel, number: number): Uint8Array {
  const bytes = new Uint8Array(inputBytes);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

function registryOf({ objectiveMs }: ScalingSettings): FixedRegistry {
  return new FixedRegistry(
    {
      name: NAME,
      inputType: 'bytes',
      defaultOutput: '-1',
      latencyObjectiveUs: objectiveMs * 1000,
      policy: { name: 'static', parameters: null },
    },
    [
      {
        name: NAME,
        version: '1',
        inputType: 'bytes',
        labels: [],
        container: { kind: 'external', containerName: NAME, modelDataPath: '' },
        batching: { strategy: 'aimd' },
      },
    ],
  );
}
