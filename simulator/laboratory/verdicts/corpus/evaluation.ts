import type { IrModule } from '../../../ptx/index.js';
import {
  judgePlaced,
  OracleBench,
  type CoverFinding,
  type IntervalSource,
  type PlacedInstance,
} from '../oracles/index.js';
import { bodyModule, type CorpusBody } from './bodies.js';
import { corpusInstance } from './corpusInstances.js';
import type { BodyLabels } from './labels.js';
import { FAMILIES, type Family } from './manifest.js';

/** What a validator says of one launch. */
export interface InstanceVerdict {
  readonly idempotent: boolean;
  /** Of a launch that it refuses: why (IF PE NA NC RO MO SO). */
  readonly cause?: string;
  /** What it expects the launch to read and write, for the cover oracle. */
  readonly intervals?: IntervalSource;
}

/** A validator: given a kernel once, and asked for each of its launches. */
export type Validation = (ir: IrModule, entry: string) => (placed: PlacedInstance) => InstanceVerdict;

/** Truth and verdicts of one family. */
export interface FamilyResult {
  readonly family: Family;
  /** Bodies by label of their kernel. */
  readonly bodies: Record<BodyLabels['kernel'], number>;
  readonly truth: { idempotent: number; nonIdempotent: number };
  readonly verdict: { idempotent: number; nonIdempotent: number };
  falsePositives: number;
  falseNegatives: number;
  /** False negatives by cause. */
  readonly causes: Record<string, number>;
}

/** A verdict that an oracle contradicts. */
export interface Contradiction {
  readonly body: string;
  readonly instance: number;
  /** `label`: the frozen truth. */
  readonly oracle: 'label' | 'trace' | 'kill' | 'cover';
  readonly cover?: CoverFinding;
}

export interface Evaluation {
  readonly families: readonly FamilyResult[];
  readonly contradictions: readonly Contradiction[];
  readonly instances: number;
  /** Instances whose buffers share an allocation. */
  readonly aliased: number;
  readonly kills: number;
  readonly reruns: number;
}

export interface EvaluationOptions {
  /**
   * Kill points a schedule for each launch that is called idempotent, and every launch's accesses held to what is predicted;
   * with 0 (the default) nothing is run: frozen labels are the truth.
   */
  readonly kills?: number;
  /** Of kill points and interleavings. */
  readonly seed?: number;
  /** Instances of each body; all by default. */
  readonly most?: number;
  /** Ends at the first contradiction. */
  readonly stopEarly?: boolean;
}

/** Holds a validator to the truth about bodies of the corpus. */
export function evaluate(
  validation: Validation,
  bodies: Iterable<{ readonly body: CorpusBody; readonly truth: BodyLabels }>,
  options: EvaluationOptions = {},
): Evaluation {
  const { kills = 0, seed = 1, most = Infinity, stopEarly = false } = options;
  const bench = new OracleBench();
  const families = new Map(FAMILIES.map((family) => [family, emptyResult(family)]));
  const contradictions: Contradiction[] = [];
  const totals = { instances: 0, aliased: 0, kills: 0, reruns: 0 };
  for (const { body, truth } of bodies) {
    const result = families.get(body.manifest.family);
    if (result === undefined) continue;
    result.bodies[truth.kernel]++;
    const verdictOf = validation(bodyModule(body), body.manifest.entry);
    const count = Math.min(truth.labels.length, most);
    for (let index = 0; index < count; index++) {
      const label = truth.labels[index];
      if (label !== 'i' && label !== 'n') continue;
      const instance = corpusInstance(body, index);
      totals.instances++;
      if (instance.plan !== 'distinct') totals.aliased++;
      const found = bench.with(instance, (placed) => {
        const verdict = verdictOf(placed);
        tally(result, label === 'i', verdict);
        const where = { body: body.id, instance: index };
        if (verdict.idempotent && label === 'n') contradictions.push({ ...where, oracle: 'label' });
        if (kills === 0) return undefined;
        const predict = (): IntervalSource | undefined => verdict.intervals;
        return {
          where,
          verdict,
          judgement: judgePlaced(placed, { kills: verdict.idempotent ? kills : 0, seed, predict }),
        };
      });
      if (found?.judgement.kind === 'judged') {
        const { where, verdict, judgement } = found;
        totals.kills += judgement.kill?.kills ?? 0;
        totals.reruns += judgement.kill?.reruns ?? 0;
        if (judgement.uncovered !== undefined)
          contradictions.push({ ...where, oracle: 'cover', cover: judgement.uncovered });
        if (verdict.idempotent && judgement.clobber !== undefined)
          contradictions.push({ ...where, oracle: 'trace' });
        if (judgement.kill?.finding !== undefined) contradictions.push({ ...where, oracle: 'kill' });
      }
      if (stopEarly && contradictions.length > 0)
        return { families: [...families.values()], contradictions, ...totals };
    }
  }
  return { families: [...families.values()], contradictions, ...totals };
}

function tally(result: FamilyResult, isIdempotent: boolean, verdict: InstanceVerdict): void {
  result.truth[isIdempotent ? 'idempotent' : 'nonIdempotent']++;
  result.verdict[verdict.idempotent ? 'idempotent' : 'nonIdempotent']++;
  if (verdict.idempotent && !isIdempotent) result.falsePositives++;
  if (verdict.idempotent || !isIdempotent) return;
  result.falseNegatives++;
  const cause = verdict.cause ?? 'none';
  result.causes[cause] = (result.causes[cause] ?? 0) + 1;
}

function emptyResult(family: Family): FamilyResult {
  return {
    family,
    bodies: { idempotent: 0, nonIdempotent: 0, conditional: 0 },
    truth: { idempotent: 0, nonIdempotent: 0 },
    verdict: { idempotent: 0, nonIdempotent: 0 },
    falsePositives: 0,
    falseNegatives: 0,
    causes: {},
  };
}

/** The table of truth and verdicts by family, as Markdown, with what is missed by cause. */
export function evaluationTable({ families }: Evaluation): string {
  const causes = [...new Set(families.flatMap((each) => Object.keys(each.causes)))].sort();
  const used = families.filter(({ truth }) => truth.idempotent + truth.nonIdempotent > 0);
  const rows = [...used.map((each) => [each.family, each] as const), ['all', sumOf(used)] as const];
  const head = [
    'family',
    'bodies idem / non / cond',
    'truth idem / non',
    'verdict idem / non',
    'FN (%)',
    'FP',
    ...causes,
  ];
  const lines = rows.map(([name, { bodies, truth, verdict, falseNegatives, falsePositives, causes: by }]) => [
    name,
    `${bodies.idempotent} / ${bodies.nonIdempotent} / ${bodies.conditional}`,
    `${truth.idempotent} / ${truth.nonIdempotent}`,
    `${verdict.idempotent} / ${verdict.nonIdempotent}`,
    `${falseNegatives} (${percent(falseNegatives, truth.idempotent)})`,
    `${falsePositives}`,
    ...causes.map((cause) => `${by[cause] ?? 0}`),
  ]);
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function sumOf(families: readonly FamilyResult[]): FamilyResult {
  const sum = emptyResult('adversarial');
  for (const { bodies, truth, verdict, falsePositives, falseNegatives, causes } of families) {
    for (const label of ['idempotent', 'nonIdempotent', 'conditional'] as const)
      sum.bodies[label] += bodies[label];
    for (const label of ['idempotent', 'nonIdempotent'] as const) {
      sum.truth[label] += truth[label];
      sum.verdict[label] += verdict[label];
    }
    sum.falsePositives += falsePositives;
    sum.falseNegatives += falseNegatives;
    for (const [cause, count] of Object.entries(causes)) sum.causes[cause] = (sum.causes[cause] ?? 0) + count;
  }
  return sum;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '0' : ((100 * part) / whole).toFixed(2);
}
