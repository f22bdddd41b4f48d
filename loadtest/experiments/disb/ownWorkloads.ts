import { KeyedDraw } from '../../../selection/index.js';
import type { Load, Task, Workload } from './workload.js';

/** DISB's models, in its order. */
export const MODELS = ['resnet152', 'densenet201', 'vgg19', 'inceptionv3', 'distilbert'] as const;
export type ModelName = (typeof MODELS)[number];

/** What is known of each model's arrivals in REAL, counted from its file. Gaps in milliseconds. */
const REAL_ARRIVALS: Readonly<Record<ModelName, { requests: number; gaps: GapStatistics }>> = {
  resnet152: { requests: 375, gaps: { mean: 104, variation: 0.12, most: 183 } },
  densenet201: { requests: 202, gaps: { mean: 193, variation: 0.22, most: 343 } },
  vgg19: { requests: 560, gaps: { mean: 52, burst: 4, within: 5, most: 283 } },
  inceptionv3: { requests: 374, gaps: { mean: 104, variation: 0.23, most: 205 } },
  distilbert: { requests: 173, gaps: { mean: 224, variation: 0.39, most: 957 } },
};

type GapStatistics =
  | { readonly mean: number; readonly variation: number; readonly most: number }
  /** So many come together, with short gaps between them. */
  | { readonly mean: number; readonly burst: number; readonly within: number; readonly most: number };

const SECONDS = 60;
const REAL_SECONDS = 38;

/** Workloads of DISB's shapes: A to E as they are described, REAL with arrivals drawn to the statistics of its traces. */
export function ownWorkloads(seed: number): Workload[] {
  const closed: Load = { type: 'continuous' };
  const all = (suffix: 'rt' | 'be', load: Load): Task[] => MODELS.map((model) => task(model, suffix, load));
  const bestEffort = all('be', closed);
  const resnet = task('resnet152', 'be', closed);
  const vgg = task('vgg19', 'rt', { type: 'periodic', frequency: 100, priority: 0 });
  const rest = { seconds: SECONDS };
  return [
    { name: 'A', ...rest, tasks: [vgg, resnet] },
    { name: 'B', ...rest, tasks: [task('vgg19', 'rt', closed), resnet] },
    { name: 'C', ...rest, tasks: [vgg, ...bestEffort] },
    {
      name: 'D',
      ...rest,
      tasks: [...all('rt', { type: 'periodic', frequency: 20, priority: 0 }), ...bestEffort],
    },
    { name: 'E', ...rest, tasks: [...all('rt', { type: 'poisson', frequency: 20 }), ...bestEffort] },
    {
      name: 'REAL',
      seconds: REAL_SECONDS,
      tasks: [
        ...MODELS.map((model) => task(model, 'rt', { type: 'trace', trace: realTrace(model, seed) })),
        ...bestEffort,
      ],
    },
  ];
}

function task(model: ModelName, suffix: 'rt' | 'be', load: Load): Task {
  return { id: `${model}_${suffix}`, model, isRealTime: suffix === 'rt', load };
}

/** Arrival times in whole milliseconds, as DISB's file has them. */
export function realTrace(model: ModelName, seed: number): number[] {
  const { requests, gaps } = REAL_ARRIVALS[model];
  const draw = new KeyedDraw(seed).of(`trace ${model}`);
  const times: number[] = [];
  let at = gaps.mean * draw();
  for (let number = 0; number < requests; number++) {
    times.push(Math.round(at));
    at += Math.min(gaps.most, 'burst' in gaps ? burstGap(gaps, number, draw) : gammaGap(gaps, draw));
  }
  return times;
}

/** Short gaps inside a burst; between bursts what is left of the mean, give or take a quarter. */
function burstGap(
  { mean, burst, within }: { readonly mean: number; readonly burst: number; readonly within: number },
  number: number,
  draw: () => number,
): number {
  if (number % burst !== burst - 1) return within * (0.6 + 0.8 * draw());
  return (burst * mean - (burst - 1) * within) * (0.75 + 0.5 * draw());
}

/** Gamma gaps by a sum of exponential ones: of this mean and coefficient of variation. */
function gammaGap(
  { mean, variation }: { readonly mean: number; readonly variation: number },
  draw: () => number,
): number {
  const shape = Math.round(1 / variation ** 2);
  let sum = 0;
  for (let part = 0; part < shape; part++) sum -= Math.log(1 - draw());
  return (sum * mean) / shape;
}
