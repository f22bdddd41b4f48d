import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Pictures } from '../../services/dashboard/tests/pictures.js';
import { PrometheusServer } from '../../services/telemetry/tests/prometheusServer.js';
import { BOARDS } from './dashboards/index.js';
import { alertFile, alerts, recordingRuleFile } from './rules/index.js';
import { drawBoard } from './tests/boardPicture.js';
import { ProvokedFleet } from './tests/provokedFleet.js';

/** Times of the rules are so many times shorter here, and so are those between scrapes. */
const SPEED = 30;
const SOON = { timeout: 60_000, interval: 250 };
/** Of what Prometheus is asked: longer than the whole test. */
const ALL_SECONDS = 300;
/** Where pictures of the dashboards go; they are kept nowhere unless it says so. */
const PICTURES = process.env['WINDJAMMER_PICTURES'];
const PICTURE_WIDTH = 1200;
/** Of one of the guide's. */
const MOST_PICTURE_BYTES = 100_000;
/** What the viewer of a picture chose, where all would be too many. */
const CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  application: { application: 'digits|hasty|moody' },
  model: { model: 'digits-mlp|moody|slow|unruly' },
  selection: { application: 'digits|noop|shared' },
};

/** What Grafana would ask, with what is chosen of its variables, or all. */
function asked(promql: string, choice: Readonly<Record<string, string>> = {}): string {
  return promql
    .replaceAll('$__rate_interval', '5s')
    .replaceAll(/\$(\w+)/g, (_, label: string) => choice[label] ?? '.*');
}

describe('a Prometheus with the rules, that scrapes servers with which things go wrong', () => {
  let fleet: ProvokedFleet;
  let prometheus: PrometheusServer;
  /** Whose causes have been provoked so far. */
  const provoked = new Set<string>();
  let startMs: number;

  beforeAll(async () => {
    fleet = await ProvokedFleet.start();
    await fleet.calm();
    prometheus = await PrometheusServer.start({
      targets: fleet.targets,
      rules: [recordingRuleFile(SPEED), alertFile(SPEED)],
      intervalMs: 15_000 / SPEED,
    });
    startMs = Date.now();
  });
  afterAll(async () => {
    await prometheus?.stop();
    await fleet?.stop();
  });

  /** Names of the alerts that have fired so far. */
  async function fired(): Promise<readonly string[]> {
    const series = await prometheus.queryRange('ALERTS{alertstate="firing"}', ALL_SECONDS, 0.5);
    return [...new Set(series.map(({ metric }) => metric.alertname))].sort();
  }

  /** Waits until these have fired, and none has of which the cause was not provoked. */
  async function expectFired(...names: readonly string[]): Promise<void> {
    for (const name of names) provoked.add(name);
    await expect.poll(() => fired(), SOON).toEqual(expect.arrayContaining([...names]));
    expect((await fired()).filter((name) => !provoked.has(name))).toEqual([]);
  }

  it('finds nothing to complain about while all is well', async () => {
    const scrapes = async () => {
      const [first] = await prometheus.query('min(count_over_time(up[5m]) and up == 1)');
      return first?.value ?? 0;
    };
    await expect.poll(scrapes, SOON).toBeGreaterThan(20);
    expect(await fired()).toEqual([]);
  });

  it('tells of an application that misses its objective, and of no other', async () => {
    fleet.loadIdle();
    await expectFired('WindjammerBudgetBurnsFast', 'WindjammerBudgetBurnsSlowly', 'WindjammerDefaults');
    expect(await prometheus.query('count by (application) (ALERTS{application!=""})')).toMatchObject([
      { metric: { application: 'idle' } },
    ]);
  });

  it('tells of a model that cannot keep up, one that ends again and again, its job, GPUs that the host holds up, and a frontend that stands still', async () => {
    fleet.loadSlow();
    fleet.loadMoody();
    fleet.loadGpus();
    fleet.holdUp();
    await fleet.breakModel();
    await expectFired(
      'WindjammerQueueGrows',
      'WindjammerReplicaFlaps',
      'WindjammerReplicasMissing',
      'WindjammerJobStands',
      'WindjammerGpuDilated',
      'WindjammerAnswersLate',
    );
    fleet.letGo();
    const version = 'count by (model) (ALERTS{alertname=~"WindjammerReplica.*"})';
    expect(await prometheus.query(version)).toMatchObject([{ metric: { model: 'unruly' } }]);
  });

  it('tells of feedback that nobody learns and such as nobody can, a node that is gone, a full disk and a certificate that ends', async () => {
    await fleet.knock();
    await fleet.spoilFeedback();
    await expectFired('WindjammerFeedbackFails');
    await fleet.holdFeedback();
    await fleet.killNode();
    fleet.fillDisk();
    fleet.replaceCertificate();
    await expectFired(
      'WindjammerFeedbackLags',
      'WindjammerNodeAway',
      'WindjammerCertificateEnds',
      ...(fleet.canFillDisk ? ['WindjammerDiskFills'] : []),
    );
  });

  it('tells of a store that is away, and of feedback that waits for it', async () => {
    await fleet.killRedis();
    await expectFired('WindjammerStoreAway', 'WindjammerStoreLags', 'WindjammerFeedbackSpools');
  });

  it('has data for every line of every dashboard', async () => {
    const empty: string[] = [];
    for (const { title, rows } of BOARDS) {
      for (const { title: panel, lines } of rows.flatMap(({ panels }) => panels)) {
        for (const { promql } of lines) {
          const series = await prometheus.queryRange(asked(promql), ALL_SECONDS, 1);
          const hasData = series.some(({ values }) => values.some((value) => Number.isFinite(value)));
          if (!hasData) empty.push(`${title}: ${panel}: ${asked(promql)}`);
        }
      }
    }
    expect(empty).toEqual([]);
  });

  it('can be seen on every panel of every dashboard', async () => {
    const pictures = await Pictures.start(PICTURE_WIDTH, PICTURES);
    try {
      for (const board of BOARDS) {
        const choice = CHOICES[board.name] ?? {};
        const drawn = await drawBoard(board, {
          query: (promql) => {
            return prometheus.queryRange(asked(promql, choice), (Date.now() - startMs) / 1000, 1);
          },
          from: startMs / 1000,
          stepSeconds: 1,
          chosen: Object.entries(choice)
            .map(([label, values]) => `${label}: ${values.replaceAll('|', ', ')}`)
            .join('; '),
        });
        expect(drawn.bare, board.name).toEqual([]);
        const { width, bytes } = await pictures.take(board.name, drawn.html);
        // Nothing reaches out of the page.
        expect(width).toBe(PICTURE_WIDTH);
        expect(bytes, board.name).toBeLessThan(MOST_PICTURE_BYTES);
      }
    } finally {
      await pictures.stop();
    }
  });

  it('leads from latencies to traces', async () => {
    const labels = await prometheus.exemplars('windjammer_query_latency_seconds_bucket', ALL_SECONDS);
    expect(labels.length).toBeGreaterThan(0);
    for (const { trace_id: id } of labels) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });

  it('tells of a server that is gone', async () => {
    await fleet.killServer();
    await expectFired('WindjammerDown');
    const untried = fleet.canFillDisk ? [] : ['WindjammerDiskFills'];
    const known = alerts().map(({ name }) => name);
    expect([...new Set([...(await fired()), ...untried])].sort()).toEqual([...known].sort());
  });
});
