import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ServedProcess } from '../tests/servedProcess.js';
import { METRIC_QUERIES } from './queries.js';
import { checkMetrics, PrometheusServer, type Sample } from './tests/prometheusServer.js';

describe('a Prometheus that scrapes windjammer serve', () => {
  let server: ServedProcess;
  let prometheus: PrometheusServer;
  /** Answers to the documented questions, by the beginning of the question. */
  let answers: Map<string, readonly Sample[]>;

  beforeAll(async () => {
    server = await ServedProcess.start(['--ephemeral']);
    await server.admin('add_app', {
      name: 'idle',
      input_type: 'doubles',
      default_output: '0',
      latency_slo_micros: 50_000,
    });
    await round(0);
    prometheus = await PrometheusServer.start({ targets: [{ address: new URL(server.query).host }] });
    await vi.waitUntil(async () => (await prometheus.targets()).every(({ health }) => health === 'up'), {
      timeout: 30_000,
      interval: 100,
    });
    // Until a rate can be taken: scrapes with traffic between them.
    await vi.waitUntil(
      async () => {
        for (let i = 1; i <= 20; i++) await round(i);
        const scrapes = await prometheus.query('count_over_time(windjammer_queries_in_flight[5m])');
        return scrapes.length > 0 && scrapes[0].value > 8;
      },
      { timeout: 60_000, interval: 100 },
    );
    answers = new Map();
    for (const { question, promql } of METRIC_QUERIES) answers.set(question, await prometheus.query(promql));
  });
  afterAll(async () => {
    await prometheus.stop();
    await server.end('SIGTERM');
  });

  let fresh = 1000;
  /** One query that the cache knows after the first round, one that it never does, one that nobody can answer. */
  async function round(value: number): Promise<void> {
    await server.post(`${server.query}/noop/predict`, { input: [value] });
    await server.post(`${server.query}/noop/predict`, { input: [fresh++] });
    await server.post(`${server.query}/idle/predict`, { input: [value] });
  }

  function answer(start: string, labels: Readonly<Record<string, string>>): number {
    const found = [...answers].filter(([question]) => question.startsWith(start));
    if (found.length !== 1) throw new Error(`${found.length} questions start with '${start}'`);
    const samples = found[0][1].filter(({ metric }) =>
      Object.entries(labels).every(([name, value]) => metric[name] === value),
    );
    if (samples.length !== 1) throw new Error(`${start}: ${JSON.stringify(found[0][1])}`);
    return samples[0].value;
  }

  it('has its target up, and every documented question has an answer', async () => {
    expect(await prometheus.targets()).toMatchObject([{ health: 'up', lastError: '' }]);
    for (const [question, samples] of answers) {
      expect([question, samples.length > 0]).toEqual([question, true]);
      for (const { value } of samples) expect([question, Number.isNaN(value)]).toEqual([question, false]);
    }
  });

  it('knows who meets the objective, and why the others get defaults', () => {
    expect(answer('Share of the queries that got', { application: 'noop' })).toBeCloseTo(1);
    expect(answer('Share of the queries that got', { application: 'idle' })).toBeCloseTo(0);
    expect(answer('Share of the answers that came', { application: 'noop' })).toBeGreaterThan(0.5);
    const idle = { application: 'idle', reason: 'no_linked_model' };
    expect(answer('Share of default outputs', idle)).toBeCloseTo(1);
  });

  it('knows latency, waiting, saturation, batches, cache and replicas', () => {
    const noop = { model: 'noop', version: '1' };
    const p99 = answer('99th percentile', { application: 'noop' });
    expect(p99).toBeGreaterThan(0);
    expect(p99).toBeLessThan(1);
    expect(answer('Inputs that wait', noop)).toBe(0);
    const busy = answer('How busy', noop);
    expect(busy).toBeGreaterThanOrEqual(0);
    expect(busy).toBeLessThan(1);
    expect(answer('Inputs in a batch', noop)).toBeCloseTo(1);
    const spared = answer('Share of the lookups', noop);
    expect(spared).toBeGreaterThan(0.25);
    expect(spared).toBeLessThan(0.75);
    expect(answer('Share of the inputs', noop)).toBeCloseTo(0);
    expect(answer('Replicas that are missing', noop)).toBe(0);
  });

  it('costs nobody an answer when three of them scrape every 100 ms', async () => {
    const target = { address: new URL(server.query).host };
    const hasty = await Promise.all(
      [0, 1, 2].map(() => PrometheusServer.start({ targets: [target], intervalMs: 100 })),
    );
    try {
      const scrapes = async () => {
        const counts = await Promise.all(hasty.map((each) => each.query('count_over_time(up[5m])')));
        return Math.min(...counts.map(([first]) => first?.value ?? 0));
      };
      while ((await scrapes()) < 30) {
        for (let at = 0; at < 50; at++) {
          const { json } = await server.post(`${server.query}/noop/predict`, { input: [fresh++] });
          expect(json).toMatchObject({ default: false });
        }
      }
      for (const each of hasty) expect(await each.targets()).toMatchObject([{ health: 'up' }]);
    } finally {
      for (const each of hasty) await each.stop();
    }
  });

  it('finds nothing to complain about in what it reads', async () => {
    const response = await fetch(`${server.query}/metrics`);
    const text = await response.text();
    const own = text
      .split('\n')
      .filter((line) => /^(# (HELP|TYPE) )?windjammer_/.test(line))
      .join('\n');
    expect(checkMetrics(`${own}\n`)).toEqual({ status: 0, complaints: '' });
    // Of the library's own names it has its opinion; they parse.
    expect(checkMetrics(text).status).not.toBe(1);
  });

  it('loses the series of an application that is deleted', async () => {
    await server.admin('delete_app', { name: 'idle' });
    await expect
      .poll(() => prometheus.query('windjammer_queries_total{application="idle"}'), { timeout: 20_000 })
      .toEqual([]);
    expect(await prometheus.query('windjammer_queries_total{application="noop"}')).not.toEqual([]);
  });
});
