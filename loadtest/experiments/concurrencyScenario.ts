import { readFileSync } from 'node:fs';
import { z } from 'zod';

const dim3 = z.tuple([z.int(), z.int(), z.int()]);

const launch = z.object({
  stream: z.int(),
  /** As CUDA counts: 0 lowest, -5 highest. */
  priority: z.int(),
  kernel: z.string(),
  grid: dim3,
  block: dim3,
  dynamicSharedBytes: z.int(),
  /** As in launch specs. */
  args: z.array(z.record(z.string(), z.unknown())),
  expect: z.object({ aloneUs: z.number(), startUs: z.number(), endUs: z.number() }),
});

const scenario = z.object({
  name: z.string(),
  ptx: z.string(),
  device: z.string(),
  makespanUs: z.number(),
  leastUs: z.number(),
  mostUs: z.number(),
  launches: z.array(launch).min(1),
});

export type ScenarioLaunch = z.infer<typeof launch>;
export type Scenario = z.infer<typeof scenario>;

/** From the repository's root, where the project's commands run. */
export const REFERENCE_FOLDER = 'simulator/gpu/reference';

/** Several launches side by side on the real card, and when each began and ended. */
export function measuredScenarios(folder = REFERENCE_FOLDER): Scenario[] {
  return z.array(scenario).parse(JSON.parse(readFileSync(`${folder}/h200-concurrency.json`, 'utf8')));
}
