import { checkApart, CommandError, OutputFile } from '../../services/cli/index.js';
import { comparisonPage } from './comparisonPage.js';
import { comparisonText, type NamedRun } from './comparison.js';
import type { ReportOptions } from './reportCommand.js';
import { readRunFile } from './runFile.js';
import { runPage } from './runPage.js';

/** There are no more colours that tell runs apart. */
const MOST_RUNS = 6;

/** @throws CommandError */
export function runReport(paths: readonly string[], { html }: ReportOptions): void {
  if (paths.length > MOST_RUNS) throw new CommandError(`at most ${MOST_RUNS} runs can be told apart`);
  const file = html === undefined ? undefined : new OutputFile(html, '--html');
  checkApart(
    file === undefined ? [] : [file],
    paths.map((path) => ({ what: 'a run to read', path })),
  );
  const runs = paths.map((path) => readRunFile(path, 'report'));
  process.stdout.write(comparisonText(runs));
  file?.write(pageOf(runs));
  file?.close();
}

function pageOf(runs: readonly NamedRun[]): string {
  const [first] = runs;
  return runs.length === 1 ? runPage(first.result) : comparisonPage(runs);
}
