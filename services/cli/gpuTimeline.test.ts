import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ruleBreaks, type Trace } from '../../simulator/timeline/tests/traceRules.js';
import { runGpuCommand } from './tests/gpuCommand.js';

const columns = fileURLToPath(new URL('../../docs/examples/columns/columns.json', import.meta.url));

describe('windjammer gpu run --timeline', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-timeline-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('writes a trace that agrees with the report, which is as without it', async () => {
    const file = join(folder, 'columns.json');
    const report = JSON.parse(await runGpuCommand('run', columns, '--timeline', file)) as object;
    const plain = JSON.parse(await runGpuCommand('run', columns)) as object;
    expect({ ...report, executorSeconds: 0 }).toEqual({ ...plain, executorSeconds: 0 });
    const trace = JSON.parse(readFileSync(file, 'utf8')) as Trace;
    expect(ruleBreaks(trace)).toEqual([]);
    const launch = trace.traceEvents.find(({ cat, name }) => cat === 'stream' && name === 'columns');
    expect(launch?.args).toMatchObject({ grid: '4x4x1', block: '32x32x1', blocks: 16 });
    expect(launch?.args?.durationUs).toBe((report as { durationUs: number }).durationUs);
    const blocks = trace.traceEvents.filter(({ cat }) => cat === 'blocks');
    expect(blocks.reduce((sum, { args }) => sum + Number(args?.blocks), 0)).toBe(16);
    const names = trace.traceEvents
      .filter(({ name }) => name === 'process_name')
      .map(({ args }) => args?.name);
    expect(names).toContain('context 1 on GPU 0: columns');
  });

  it('says what is wrong with the file, before the launch', async () => {
    expect(await runGpuCommand('run', columns, '--timeline', folder)).toMatch(/--timeline: .* is a folder/);
    const nowhere = join(folder, 'no/where.json');
    expect(await runGpuCommand('run', columns, '--timeline', nowhere)).toMatch(/--timeline: ENOENT/);
  });

  it('leaves a file as it was when there is nothing to run', async () => {
    const file = join(folder, 'kept.json');
    writeFileSync(file, 'kept');
    expect(await runGpuCommand('run', join(folder, 'no.json'), '--timeline', file)).toContain('FAILED');
    expect(readFileSync(file, 'utf8')).toBe('kept');
    const none = join(folder, 'none.json');
    await runGpuCommand('run', join(folder, 'no.json'), '--timeline', none);
    expect(existsSync(none)).toBe(false);
  });
});
