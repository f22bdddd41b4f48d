import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import type { ApplicationTally, WindowCounts } from '../measure/index.js';
import type { Accuracy, ApplicationResult, QueryCounts, WindowResult } from './runResult.js';

/** What a tally says of an application. */
export function applicationCounts(
  tally: ApplicationTally,
): QueryCounts & Pick<ApplicationResult, 'latency' | 'latencyDistribution' | 'accuracy' | 'feedback'> {
  return {
    ...countsOf(tally),
    latency: tally.latencies.summary(),
    latencyDistribution: tally.latencies.distribution(),
    accuracy: accuracyOf([tally]),
    feedback: sorted(tally.feedback),
  };
}

export function windowResult(window: WindowCounts, fromSeconds: number): WindowResult {
  const { arrivals, answers, defaults, batches, items, latencies, shares } = window;
  return {
    fromSeconds,
    arrivals,
    answers,
    defaults: total(defaults),
    defaultReasons: sorted(defaults),
    batches,
    items,
    p50Ms: latencies?.quantileMs(50) ?? null,
    p99Ms: latencies?.quantileMs(99) ?? null,
    shares: shares ?? null,
  };
}

export function countsOf(tally: ApplicationTally): QueryCounts {
  const defaults = total(tally.defaults);
  return {
    arrivals: tally.arrivals,
    answers: tally.answers,
    inTime: tally.inTime,
    predictions: tally.answers - defaults,
    cachedAnswers: tally.cachedAnswers,
    defaults,
    defaultReasons: sorted(tally.defaults),
    refusals: sorted(tally.refusals),
  };
}

export function together(a: QueryCounts, b: QueryCounts): QueryCounts {
  return {
    arrivals: a.arrivals + b.arrivals,
    answers: a.answers + b.answers,
    inTime: a.inTime + b.inTime,
    predictions: a.predictions + b.predictions,
    cachedAnswers: a.cachedAnswers + b.cachedAnswers,
    defaults: a.defaults + b.defaults,
    defaultReasons: added(a.defaultReasons, b.defaultReasons),
    refusals: added(a.refusals, b.refusals),
  };
}

function added(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Record<string, number> {
  const all: Record<string, number> = { ...a };
  for (const [key, count] of Object.entries(b)) all[key] = (all[key] ?? 0) + count;
  return sorted(all);
}

/** By name: which came first is no news. */
function sorted<T extends Readonly<Partial<Record<string, number>>>>(counts: T): T {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))) as T;
}

function total(counts: Readonly<Partial<Record<string, number>>>): number {
  return Object.values(counts).reduce<number>((all, count) => all + (count ?? 0), 0);
}

function sum(tallies: readonly ApplicationTally[], field: 'labelled' | 'correct'): number {
  return tallies.reduce((all, tally) => all + tally[field], 0);
}

export function accuracyOf(tallies: readonly ApplicationTally[]): Accuracy | null {
  const labelled = sum(tallies, 'labelled');
  const correct = sum(tallies, 'correct');
  return labelled === 0 ? null : { labelled, correct, share: correct / labelled };
}

export function perSecond(count: number, seconds: number): number {
  return seconds > 0 ? count / seconds : 0;
}

export function productVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
