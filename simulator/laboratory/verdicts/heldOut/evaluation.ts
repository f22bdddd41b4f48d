import type { Validation } from '../corpus/index.js';
import { OracleBench } from '../oracles/index.js';
import { heldOutModule, type HeldOutBody } from './bodies.js';
import { SOURCES, type Source } from './heldOutKernel.js';
import { heldOutInstance, launchesOf } from './instances.js';

/** Truth and verdicts of the kernels of one source. */
export interface SourceResult {
  readonly source: Source;
  readonly bodies: number;
  readonly idempotent: number;
  readonly nonIdempotent: number;
  readonly falseNegatives: number;
  /** False negatives by cause. */
  readonly causes: Readonly<Record<string, number>>;
  /** Launches that are accepted and not idempotent: `frameworks/vecSilu4 sm90 3`. */
  readonly falsePositives: readonly string[];
}

const noCauses = (): Record<string, number> => ({});

/** Holds a validator to the truth about held-out launches. */
export function evaluateHeldOut(
  validation: Validation,
  bodies: Iterable<{ readonly body: HeldOutBody; readonly labels: string }>,
): readonly SourceResult[] {
  const bench = new OracleBench();
  const results = new Map(
    SOURCES.map((source) => [
      source,
      {
        source,
        bodies: 0,
        idempotent: 0,
        nonIdempotent: 0,
        falseNegatives: 0,
        causes: noCauses(),
        falsePositives: new Array<string>(),
      },
    ]),
  );
  for (const { body, labels } of bodies) {
    const { kernel } = body;
    const result = results.get(kernel.source);
    if (result === undefined) continue;
    result.bodies++;
    const ir = heldOutModule(body);
    const verdictOf = validation(ir, kernel.entry);
    for (const launch of launchesOf(kernel)) {
      const label = labels[launch.index];
      if (label !== 'i' && label !== 'n') continue;
      const { idempotent, cause = 'none' } = bench.with(heldOutInstance(kernel, ir, launch), verdictOf);
      if (label === 'n') {
        result.nonIdempotent++;
        if (idempotent) result.falsePositives.push(`${body.id} ${launch.index}`);
        continue;
      }
      result.idempotent++;
      if (idempotent) continue;
      result.falseNegatives++;
      result.causes[cause] = (result.causes[cause] ?? 0) + 1;
    }
  }
  return [...results.values()].filter(({ bodies: count }) => count > 0);
}

/** The results as a Markdown table, with a line for all. */
export function heldOutTable(results: readonly SourceResult[]): string {
  const causes = [...new Set(results.flatMap((each) => Object.keys(each.causes)))].sort();
  const row = (name: string, of: readonly SourceResult[]): string => {
    const sum = (amount: (each: SourceResult) => number): number =>
      of.reduce((total, each) => total + amount(each), 0);
    const [idempotent, missed] = [sum((each) => each.idempotent), sum((each) => each.falseNegatives)];
    return [
      name,
      sum((each) => each.bodies),
      `${idempotent} / ${sum((each) => each.nonIdempotent)}`,
      `${missed} (${((100 * missed) / Math.max(idempotent, 1)).toFixed(2)})`,
      sum((each) => each.falsePositives.length),
      ...causes.map((cause) => sum((each) => each.causes[cause] ?? 0)),
    ].join(' | ');
  };
  const head = ['source', 'bodies', 'truth idem / non', 'FN (%)', 'FP', ...causes];
  const lines = [
    head.join(' | '),
    head.map(() => '---').join(' | '),
    ...results.map((each) => row(each.source, [each])),
    row('all', results),
  ];
  return lines.map((line) => `| ${line} |`).join('\n');
}
