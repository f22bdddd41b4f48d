import { z } from 'zod';

const number = z.number();
const numberOrNone = number.nullable();
const counts = z.record(z.string(), number);
const shares = z.record(z.string(), number);
const times = z.looseObject({
  meanMs: number,
  p50Ms: number,
  p90Ms: number,
  p95Ms: number,
  p99Ms: number,
  p999Ms: number,
  maxMs: number,
});
const accuracy = z.looseObject({ labelled: number, correct: number, share: number });

const queryCounts = {
  arrivals: number,
  answers: number,
  predictions: number,
  inTime: number,
  cachedAnswers: number,
  defaults: number,
  defaultReasons: counts,
  refusals: counts,
};

const application = z.looseObject({
  ...queryCounts,
  name: z.string(),
  objectiveMs: number,
  policy: z.looseObject({ name: z.string(), parameters: z.unknown() }).nullable(),
  models: z.array(z.string()),
  inputs: z.string(),
  latency: times.nullable(),
  latencyDistribution: z.array(z.tuple([number, number])),
  accuracy: accuracy.nullable(),
  feedback: counts,
  selectionShares: shares,
});

const model = z.looseObject({
  name: z.string(),
  version: z.string(),
  container: z.string(),
  replicas: number,
  lostReplicas: z.array(z.string()),
  answers: number,
  cachedAnswers: number,
  latePredictions: number,
  batches: number,
  items: number,
  failedItems: number,
  meanBatchSize: numberOrNone,
  largestBatch: number,
  batchLimits: z.array(number),
  batchSizes: z.array(z.looseObject({ from: number, to: number, count: number })),
  service: times.nullable(),
  queueing: times.nullable(),
});

const window = z.looseObject({
  fromSeconds: number,
  arrivals: number,
  answers: number,
  defaults: number,
  defaultReasons: counts,
  batches: number,
  items: number,
  p50Ms: numberOrNone,
  p99Ms: numberOrNone,
  shares: z.record(z.string(), shares).nullable(),
});

/** What reports read of a result: a file may have been edited, or made by something else. */
export const resultShape = z.looseObject({
  ...queryCounts,
  kind: z.enum(['replay', 'loadtest']),
  times: z.enum(['simulated', 'host', 'wall']),
  endedEarly: z.string().nullable(),
  windjammer: z.string(),
  node: z.string(),
  seed: number,
  trace: z.string(),
  scale: number,
  durationSeconds: number,
  drainSeconds: number,
  loadingSeconds: number,
  offeredPerSecond: number,
  predictionsPerSecond: number,
  goodputPerSecond: number,
  latency: times.nullable(),
  accuracy: accuracy.nullable(),
  feedback: z.looseObject({ share: number, delayMs: number, given: number }),
  cache: counts.nullable(),
  applications: z.array(application),
  models: z.array(model),
  gpuNodes: z.array(
    z
      .looseObject({
        name: z.string(),
        gpus: z.array(z.string()),
        replicas: z.array(number),
        busySeconds: number,
      })
      .refine(({ gpus, replicas }) => replicas.length === gpus.length, 'a number of replicas for each GPU'),
  ),
  load: z
    .looseObject({
      url: z.string(),
      mode: z.enum(['http', 'websocket', 'v2']),
      loop: z.enum(['open', 'closed']),
      connections: number,
      processes: number,
      lateness: times.nullable(),
      lateLimitMs: numberOrNone,
      unanswered: number,
    })
    .nullable(),
  serverParts: z.array(z.looseObject({ name: z.string(), times })),
  windowSeconds: number,
  windows: z.array(window),
});
