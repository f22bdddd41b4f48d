import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { packageRoot } from '../../../simulator/files/index.js';
import type { KernelModelStart } from '../nodeHost.js';
import { FrontendDouble, floats } from '../tests/frontendDouble.js';
import type { AnalysisReport, VerdictReport } from '../verdictReport.js';
import { GpuNodeThread, type GpuNodeThreadOptions } from './gpuNodeThread.js';
import { installedSolver } from '../../proving/index.js';
import { analystThread } from './kernelAnalyst.js';

const modelStart = (model: string): KernelModelStart => ({
  model,
  version: '1',
  replica: '0',
  inputType: 'floats',
  path: join(packageRoot(), `containers/runtime/tests/${model}Model`),
});
const SCALE = modelStart('scale');
const MORTON = modelStart('morton');

describe('kernels of a GPU node in a thread', () => {
  let directory: string;
  const nodes: GpuNodeThread[] = [];

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'analyses-'))));

  afterEach(async () => {
    for (const node of nodes.splice(0)) await new Promise<void>((resolve) => node.close(resolve));
    await analystThread()?.terminate();
    rmSync(directory, { recursive: true });
  });

  function nodeOf(scheduling: string, options: GpuNodeThreadOptions = {}): GpuNodeThread {
    const node = new GpuNodeThread({ scheduling, analysisDirectory: directory, ...options });
    nodes.push(node);
    return node;
  }

  async function served(node: GpuNodeThread): Promise<void> {
    const frontend = new FrontendDouble(node.start(SCALE));
    await frontend.seen(({ kind }) => kind === 'hello');
    const batch = frontend.ask([floats(1, 2)]);
    await frontend.seen(({ kind }) => kind === 'result');
    expect(frontend.outcomes(batch)).toEqual(['[2,4]']);
  }

  const untilReport = (node: GpuNodeThread, expected: (report: VerdictReport) => void): Promise<void> =>
    vi.waitFor(
      () => {
        const { verdicts } = node.report();
        if (verdicts === undefined) throw new Error('no report yet');
        expected(verdicts);
      },
      { timeout: 120_000 },
    );

  it('are analysed in another, once: the next start finds them on disk, the next node in memory', async () => {
    const first = nodeOf('killRestart');
    await served(first);
    await untilReport(first, ({ analysis }) =>
      expect(analysis).toMatchObject({ waiting: 0, analysed: 1, remembered: 0, failed: 0 }),
    );
    await served(first);
    await untilReport(first, ({ idempotent, refused, latency }) => {
      const judged = Object.values(refused).reduce((sum, count) => sum + count, idempotent);
      expect(judged).toBeGreaterThan(0);
      expect(latency.count).toBe(judged);
    });
    expect(readdirSync(directory)).toHaveLength(1);
    const second = nodeOf('killRestart');
    await served(second);
    await untilReport(second, ({ analysis }) =>
      expect(analysis).toMatchObject({ waiting: 0, analysed: 0, remembered: 1 }),
    );
    // The analyst dies; the next one has to look on the disk.
    await analystThread()?.terminate();
    const third = nodeOf('killRestart');
    await served(third);
    await untilReport(third, ({ analysis }) =>
      expect(analysis).toMatchObject({ waiting: 0, analysed: 0, remembered: 1 }),
    );
  });

  // Only Linux has priorities of threads.
  it.runIf(process.platform === 'linux')(
    'are analysed by a thread that gives way to those that serve',
    async () => {
      const node = nodeOf('killRestart');
      await served(node);
      await untilReport(node, ({ analysis }) => expect(analysis).toMatchObject({ waiting: 0 }));
      const threads = readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)));
      expect(threads).toContain(10);
      expect(getPriority(process.pid)).toBe(Math.min(...threads));
    },
  );

  describe.skipIf(installedSolver() === undefined)('that z3 alone proves', () => {
    const values = [...Array(1024).keys()];

    /** Asks once the analyst has said so much, and tells what is found of the launch then. */
    async function foundOf(
      node: GpuNodeThread,
      analysis: Partial<AnalysisReport>,
      expected: (verdicts: VerdictReport) => void,
    ): Promise<void> {
      const frontend = new FrontendDouble(node.start(MORTON));
      await frontend.seen(({ kind }) => kind === 'hello');
      await untilReport(node, (report) => expect(report.analysis).toMatchObject({ waiting: 0, ...analysis }));
      const batch = frontend.ask([floats(...values)]);
      await frontend.seen(({ kind }) => kind === 'result');
      const [output] = frontend.outcomes(batch);
      expect((JSON.parse(output) as number[]).slice(0, 8)).toEqual([0, 1, 4, 5, 16, 17, 20, 21]);
      await untilReport(node, expected);
    }

    const allRefused = ({ idempotent, refused }: VerdictReport): void => {
      expect(idempotent).toBe(0);
      expect(refused.RO).toBeGreaterThanOrEqual(1);
    };

    /** The launch with which a model begins may come before the analysis, or before what the solver adds to it. */
    const accepted = ({ idempotent, refused }: VerdictReport): void => {
      expect(idempotent).toBeGreaterThanOrEqual(1);
      expect(refused.RO ?? 0).toBeLessThanOrEqual(1);
    };

    it('are refused without it, and that is told once; with it they are not, nor after the next start', async () => {
      const notices: string[] = [];
      const withoutSolver = {
        solverPackage: 'no-such-solver',
        onNotice: (message: string) => notices.push(message),
      };
      const first = nodeOf('killRestart', withoutSolver);
      await foundOf(first, { analysed: 1, unasked: 1 }, allRefused);
      await foundOf(first, { analysed: 1, improved: 0 }, allRefused);
      expect(notices).toEqual([expect.stringContaining('npm install --include=optional')]);

      await analystThread()?.terminate();
      const second = nodeOf('killRestart');
      await foundOf(second, { remembered: 1, improved: 1, unasked: 0 }, accepted);
      const [file] = readdirSync(directory);
      expect(readFileSync(join(directory, file), 'utf8')).toContain(`"solver":"${installedSolver()}"`);

      await analystThread()?.terminate();
      const third = nodeOf('killRestart', withoutSolver);
      await foundOf(third, { remembered: 1, improved: 0, unasked: 0 }, accepted);
      // z3 takes a second here, and more where others need the machine.
    }, 240_000);
  });

  it('are left alone where no policy kills, and no thread is there for them', async () => {
    const node = nodeOf('drain');
    await served(node);
    await vi.waitFor(() => expect(node.report().spans).toHaveLength(1), { timeout: 30_000 });
    expect(node.report().verdicts).toBeUndefined();
    expect(analystThread()).toBeUndefined();
    expect(readdirSync(directory)).toEqual([]);
  });
});
