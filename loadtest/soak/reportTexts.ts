import type { ClusterSoakReport } from './cluster/clusterSoakRun.js';
import type { SoakReport } from './soakRun.js';

/** For people. */
export function serverReportText(report: SoakReport, minutes: number, seed: number): string {
  return [
    `${report.queries} queries in ${minutes} min: ${report.offeredPerSecond.toFixed(0)}/s of ${report.capacityPerSecond.toFixed(0)}/s, seed ${seed}`,
    `  predictions and defaults: ${report.answers}; not sent, since too many were under way: ${report.skipped}`,
    `  defaults: ${counts(report.defaults)}`,
    `  errors by status, nearly all asked for: ${counts(report.refusals)}`,
    `  troubles: ${counts(report.troubles)}`,
    `  heap after collection: ${report.samples.at(-1)?.heapMib.toFixed(1)} MiB, ${growthText(report.heapGrowthMib)}`,
    `  event loop late: p99 at most ${report.loopP99Ms.toFixed(0)} ms, longest ${report.loopMaxMs.toFixed(0)} ms`,
    ...violationLines(report),
    '',
  ].join('\n');
}

/** For people. */
export function clusterReportText(report: ClusterSoakReport, minutes: number): string {
  const { feedback, changes, settled } = report;
  return [
    `${report.answers} answers in ${minutes} min, seed ${report.seed}; not sent, since too many were under way: ${report.skipped}`,
    `  defaults: ${counts(report.defaults)}; refused: ${counts(report.refusals)}`,
    `  troubles: ${counts(report.troubles)}; starts that failed: ${report.failedStarts}`,
    `  feedback by input: ${feedback.keyed.acknowledged} acknowledged, ${feedback.keyed.learned} learned`,
    `  feedback on queries: ${feedback.judged.acknowledged} acknowledged, ${feedback.judged.doubtful} never, ` +
      `${feedback.judged.learned} learned; acknowledged again: ${feedback.repeated}`,
    `  changes: ${changes.made}, tries that were refused: ${changes.refused}, seen by others after ${changes.slowestMs.toFixed(0)} ms at most`,
    `  after it: registries equal in ${settled.equalMs.toFixed(0)} ms, everything up in ${settled.runningMs.toFixed(0)} ms`,
    ...Object.entries(report.heaps).map(([name, { samples, grownMib }]) => {
      const last = samples.at(-1);
      return `  ${name}: heap ${last?.heapMib.toFixed(1)} MiB, grown by ${grownMib.toFixed(2)} MiB once warm; resident ${last?.rssMib.toFixed(0)} MiB`;
    }),
    ...violationLines(report),
    ...(report.logs === undefined ? [] : [`  logs: ${report.logs}`]),
    '',
  ].join('\n');
}

function violationLines({ violations }: Pick<SoakReport, 'violations'>): string[] {
  return [
    violations.length === 0 ? '  nothing happened that must not' : '  WHAT MUST NOT HAPPEN:',
    ...violations.flatMap(({ kind, count, examples }) => [
      `    ${kind}: ${count}`,
      ...examples.map((example) => `      ${example}`),
    ]),
  ];
}

function counts(of: Readonly<Record<string, number>>): string {
  return (
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none'
  );
}

function growthText(grownMib: number | undefined): string {
  return grownMib === undefined
    ? 'not judged: the run ended before caches were full for long'
    : `grown by ${grownMib.toFixed(2)} MiB once caches were full`;
}
