import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startEmbedded } from '../tests/embeddedServer.js';
import { describedMetrics, metricDocumentation } from './documentation.js';
import { MemoryStore, type SharedStore } from '../store/index.js';

class SharedDouble extends MemoryStore implements SharedStore {
  readonly loads = 1;
  readonly lagMs = () => 0;
  readonly writesUnderWay = () => 0;
  readonly repair = () => Promise.resolve();
}

describe('docs/reference/metrics.md', () => {
  it('is what the server has', () => {
    expect(readFileSync('docs/reference/metrics.md', 'utf8')).toBe(metricDocumentation());
  });

  it('leaves no metric of a whole server out', async () => {
    const server = await startEmbedded({ openSharedStore: () => Promise.resolve(new SharedDouble()) });
    const response = await fetch(`http://127.0.0.1:${server.queryAddress.port}/metrics`);
    const text = await response.text();
    await server.stop({ noticeMs: 0, graceMs: 1000 });
    const scraped = [...text.matchAll(/^# TYPE ((?:windjammer|DCGM)_\w+)/gm)].map(([, name]) => name);
    expect(scraped.sort()).toEqual(
      describedMetrics()
        .map(({ name }) => name)
        .sort(),
    );
  });

  it('names metrics as Prometheus wants it: a unit at the end, _total behind counters and nothing else', () => {
    const described = describedMetrics().filter(({ name }) => !name.startsWith('DCGM_'));
    expect(described.length).toBeGreaterThan(30);
    for (const { name, type, unit, labels, help } of described) {
      expect(name).toMatch(/^windjammer(_[a-z]+)+$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      const base = name.replace(/_total$/, '');
      if (unit === 'seconds' || unit === 'bytes') expect(base.endsWith(`_${unit}`)).toBe(true);
      else expect(base).not.toMatch(/_(seconds|bytes|milliseconds|ms|us|ns)$/);
      if (type === 'histogram') expect(name).not.toMatch(/_(count|sum|bucket)$/);
      for (const label of labels) expect(label).toMatch(/^[a-z]+$/);
      expect(labels).not.toContain('le');
      expect(help).toMatch(/^[A-Z]/);
      expect(help).not.toMatch(/[|\n]|\.$/);
    }
    expect(new Set(described.map(({ name }) => name)).size).toBe(described.length);
  });

  it('has what dashboards for DCGM ask for, under names, types and labels of its exporter', () => {
    const described = describedMetrics().filter(({ name }) => name.startsWith('DCGM_'));
    const names = described.map(({ name }) => name);
    for (const name of [
      'FB_FREE',
      'FB_USED',
      'SM_CLOCK',
      'MEM_CLOCK',
      'GPU_UTIL',
      'MEM_COPY_UTIL',
      'POWER_USAGE',
    ])
      expect(names).toContain(`DCGM_FI_DEV_${name}`);
    for (const name of ['GR_ENGINE_ACTIVE', 'SM_ACTIVE', 'SM_OCCUPANCY', 'DRAM_ACTIVE', 'PCIE_TX_BYTES'])
      expect(names).toContain(`DCGM_FI_PROF_${name}`);
    for (const { name, labels, help } of described) {
      expect(name).toMatch(/^DCGM_FI_(DEV|PROF)(_[A-Z0-9]+)+$/);
      expect(labels.slice(0, 5)).toEqual(['gpu', 'UUID', 'device', 'modelName', 'Hostname']);
      expect(help).not.toMatch(/[|\n]|\.$/);
    }
  });
});
