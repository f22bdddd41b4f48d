import { isDeepStrictEqual } from 'node:util';
import { setTimeout as after } from 'node:timers/promises';
import { reasonOf } from '../../../simulator/text/index.js';
import type { Violations } from '../violations.js';
import type { ClusterUnderTest } from './clusterUnderTest.js';
import { listing, type Listing } from './registry.js';

/** Registries are to be equal within a second; replicas that were lost start again, which takes a while. */
const REGISTERED_WITHIN_MS = 3000;
const RUNNING_WITHIN_MS = 60_000;

export interface SettledReport {
  /** From the end of all troubles until all frontends listed the same, and until every replica was up everywhere. */
  readonly equalMs: number;
  readonly runningMs: number;
}

/** Waits until all frontends say the same, and everything runs that is to. */
export async function untilSettled(
  cluster: ClusterUnderTest,
  violations: Violations,
): Promise<SettledReport> {
  const beganMs = performance.now();
  const elapsed = (): number => performance.now() - beganMs;
  let equalMs = Infinity;
  for (;;) {
    let told: string;
    try {
      const seen = await Promise.all(cluster.frontends.map((seat) => listing(cluster.client(seat))));
      told = difference(seen, 'registered');
      if (told === '' && equalMs === Infinity) equalMs = elapsed();
      if (equalMs === Infinity && elapsed() > REGISTERED_WITHIN_MS) {
        violations.add('registries differ', told);
        equalMs = elapsed();
      }
      if (told === '') told = difference(seen, 'running') || missing(seen[0]);
      if (told === '') return { equalMs, runningMs: elapsed() };
    } catch (error) {
      told = reasonOf(error);
    }
    if (elapsed() > RUNNING_WITHIN_MS) {
      violations.add('not everything runs', told);
      return { equalMs, runningMs: elapsed() };
    }
    await after(100);
  }
}

/** Once nobody asks, nothing may be under way any more. */
export async function nothingUnderWay(cluster: ClusterUnderTest, violations: Violations): Promise<void> {
  const gauges = /^(windjammer_queries_in_flight|windjammer_in_flight_inputs)(?:\{.*\})? ([1-9].*)$/gm;
  const untilMs = performance.now() + 10_000;
  for (const seat of cluster.frontends) {
    for (;;) {
      const response = await fetch(`${seat.life?.process.query}/metrics`);
      const left = [...(await response.text()).matchAll(gauges)].map(([line]) => line);
      if (left.length === 0) break;
      if (performance.now() > untilMs) {
        violations.add('something is left under way', `${seat.name}: ${left.join(', ')}`);
        break;
      }
      await after(100);
    }
  }
}

function difference(seen: readonly Listing[], part: keyof Listing): string {
  const [first, ...others] = seen.map((one) => one[part]);
  const other = others.find((one) => !isDeepStrictEqual(one, first));
  return other === undefined ? '' : firstDifference(first, other);
}

/** Where two lists begin to differ, for people. */
function firstDifference(a: unknown, b: unknown): string {
  const [one, two] = [JSON.stringify(a), JSON.stringify(b)];
  let at = 0;
  while (at < one.length && one[at] === two[at]) at++;
  const from = Math.max(0, at - 150);
  return `…${one.slice(from, at + 120)}… and …${two.slice(from, at + 120)}…`;
}

/** A replica that is not up. */
function missing({ running }: Listing): string {
  const { containers } = running as { readonly containers: readonly (readonly string[])[] };
  return containers
    .filter(([, , state]) => state !== 'up')
    .map((container) => container.join(' '))
    .join(', ');
}
