import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { promtool } from '../../services/telemetry/tests/prometheusServer.js';
import { alerts } from './rules/index.js';
import { ALERT_CASES } from './tests/alertCases.js';
import { promtoolTests } from './tests/promtoolTests.js';

const FILES = ['recording.rules.yml', 'alerts.rules.yml'].map((name) => resolve('deploy/prometheus', name));

it('Prometheus takes the example of a configuration, with all rules', () => {
  const { status, output } = promtool('check', 'config', 'deploy/prometheus/prometheus.yml');
  expect([status, output]).toEqual([0, expect.stringContaining(`${alerts().length} rules found`)]);
  expect(promtool('check', 'rules', '--lint-fatal', ...FILES).status).toBe(0);
});

it('every alert fires when its series say so, and not before', () => {
  expect(ALERT_CASES.map(({ alert }) => alert)).toEqual(alerts().map(({ name }) => name));
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-rules-'));
  try {
    const file = join(folder, 'tests.yml');
    writeFileSync(file, promtoolTests(FILES, ALERT_CASES));
    const { status, output } = promtool('test', 'rules', file);
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
