import { expect, it } from 'vitest';
import type { AnalysisReport } from '../verdictReport.js';
import { SolverNotices } from './solverNotices.js';

const report = (unasked: number, broken: number): AnalysisReport => ({
  waiting: 0,
  analysed: 3,
  remembered: 0,
  failed: 0,
  improved: 0,
  unasked,
  broken,
  hostSeconds: 0,
  mostHostSeconds: 0,
});

it('tells once that a solver is missing where it would be asked, and once that it broke', () => {
  const told: string[] = [];
  const notices = new SolverNotices('node7', (message, details) =>
    told.push(`${JSON.stringify(details)} ${message}`),
  );
  notices.look(undefined);
  notices.look(report(0, 0));
  expect(told).toEqual([]);
  for (const unasked of [1, 2]) notices.look(report(unasked, 0));
  for (const broken of [1, 2]) notices.look(report(2, broken));
  expect(told).toEqual([
    expect.stringMatching(/^{"node":"node7"} .*without z3.*npm install --include=optional/),
    expect.stringMatching(/^{"node":"node7"} z3 broke/),
  ]);
});
