import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { packageRoot } from '../../models/index.js';
import type { KernelModelStart } from '../nodeHost.js';
import { FrontendDouble, floats } from '../tests/frontendDouble.js';
import type { VerdictReport } from '../verdictReport.js';
import { GpuNodeThread } from './gpuNodeThread.js';
import { analystThread } from './kernelAnalyst.js';

const SCALE: KernelModelStart = {
  model: 'scale',
  version: '1',
  replica: '0',
  inputType: 'floats',
  path: join(packageRoot(), 'containers/runtime/tests/scaleModel'),
};

describe('kernels of a GPU node in a thread', () => {
  let directory: string;
  const nodes: GpuNodeThread[] = [];

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'analyses-'))));

  afterEach(async () => {
    for (const node of nodes.splice(0)) await new Promise<void>((resolve) => node.close(resolve));
    await analystThread()?.terminate();
    rmSync(directory, { recursive: true });
  });

  function nodeOf(scheduling: string): GpuNodeThread {
    const node = new GpuNodeThread({ scheduling, analysisDirectory: directory });
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
      { timeout: 30_000 },
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

  it('are left alone where no policy kills, and no thread is there for them', async () => {
    const node = nodeOf('drain');
    await served(node);
    await vi.waitFor(() => expect(node.report().spans).toHaveLength(1), { timeout: 30_000 });
    expect(node.report().verdicts).toBeUndefined();
    expect(analystThread()).toBeUndefined();
    expect(readdirSync(directory)).toEqual([]);
  });
});
