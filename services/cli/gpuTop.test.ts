import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { emptyRoom, gpuSample } from '../../containers/runtime/tests/gpuSamples.js';
import type { NodeReport } from '../../containers/runtime/index.js';
import { ManagementHarness } from '../management/tests/harness.js';
import type { GpuAnswer } from '../management/index.js';
import type { ReplicaStatus } from '../prediction/index.js';
import { QUERY_FIELDS } from './gpuQuery.js';
import { runGpuCommand } from './tests/gpuCommand.js';

function report(gpus: number, dilation: number | undefined = undefined): NodeReport {
  return {
    node: 'node0',
    replicas: 1,
    busyHostSeconds: 3,
    busySimulatedSeconds: 1,
    dilation,
    room: emptyRoom('node0', gpus),
    hostBusyShare: 0.92,
    clockLagSeconds: 0.5,
    gpus: [],
    spans: Array.from({ length: gpus }, (_, gpu) => ({
      latest: gpuSample(3e9, { gpu }),
      earlier: gpuSample(2e9, { gpu }),
    })),
  };
}

describe('windjammer gpu top', () => {
  const harness = new ManagementHarness();
  beforeAll(() => harness.start());
  afterAll(() => harness.close());
  beforeEach(() => {
    harness.nodes = [report(1)];
    harness.queues = [
      { model: 'm', version: '1', replica: '0', queued: 7, inFlightItems: 2 } as ReplicaStatus,
    ];
  });

  const top = (...args: readonly string[]): Promise<string> =>
    runGpuCommand('top', '--management-url', harness.url, ...args);

  it('prints a table in which everything has its place', async () => {
    const text = await top('--once');
    const lines = text.split('\n');
    const width = lines[1].length;
    for (const line of lines.slice(1).filter((each) => /^[+|]/.test(each))) expect(line).toHaveLength(width);
    expect(text).toMatch(/^\| +0 {2}NVIDIA H200 +node0: 92% \|.* 1MiB \/ \d+MiB \| +75% +50% \|$/m);
    expect(text).toMatch(/^\| 1980MHz\/6251MHz +250W \/ 700W \| 2.4TB\/s +2.0GB\/s\/1.0GB\/s \|/m);
    expect(text).toMatch(/^\| +0 +2 m +1 +0 +38% +1MiB +7 +2 +\|$/m);
    expect(text).toMatch(/^\| +0 +1 - +- +- +13% +1MiB +- +- +\|$/m);
    expect(text).not.toContain('dilation');
    expect(text).not.toContain('\x1b');
  });

  it('says where numbers are not what they seem', async () => {
    harness.nodes = [report(1, 950.4)];
    expect(await top('--once')).toContain('node0: dilation 950');
    harness.nodes = [report(1, 1.1)];
    expect(await top('--once')).not.toContain('dilation');
  });

  it('has a line for every GPU, or for one', async () => {
    harness.nodes = [report(3)];
    expect((await top('--once')).match(/NVIDIA H200/g)).toHaveLength(3);
    expect((await top('--once', '--device', '2')).match(/NVIDIA H200/g)).toHaveLength(1);
    expect(await top('--once', '--device', '3')).toMatch(
      /^FAILED .*--device 3: the server has GPUs 0 \(node0\/0\), 1 \(node0\/1\), 2 \(/,
    );
  });

  it('cuts long names', async () => {
    const latest = gpuSample(3e9);
    const owner = { model: 'a'.repeat(100), version: '1', replica: '0' };
    const contexts = latest.contexts.map((context) => ({ ...context, owner }));
    harness.nodes = [{ ...report(1), spans: [{ latest: { ...latest, contexts }, earlier: undefined }] }];
    const lines = (await top('--once')).split('\n');
    expect(lines.filter((line) => line.includes('aaaa...'))).toHaveLength(2);
    expect(new Set(lines.filter((line) => /^[+|]/.test(line)).map(({ length }) => length)).size).toBe(1);
  });

  it('answers queries as nvidia-smi does', async () => {
    harness.nodes = [report(2)];
    const fields = 'index,name,utilization.gpu,memory.used,power.draw,dilation';
    expect(await top('--query', fields, '--format', 'csv')).toBe(
      'index, name, utilization.gpu [%], memory.used [MiB], power.draw [W], dilation\n' +
        '0, NVIDIA H200, 75 %, 1 MiB, 250.00 W, [N/A]\n' +
        '1, NVIDIA H200, 75 %, 1 MiB, 250.00 W, [N/A]\n',
    );
    expect(await top(`--query-gpu=${fields}`, '--format=csv,noheader,nounits', '--device', '1')).toBe(
      '1, NVIDIA H200, 75, 1, 250.00, [N/A]\n',
    );
    const all = await top('--query', QUERY_FIELDS.join(','), '--format', 'csv,noheader', '--device', '0');
    expect(all.split(', ')).toHaveLength(QUERY_FIELDS.length);
    expect(all).not.toMatch(/NaN|undefined/);
  });

  it('names the fields and formats that there are', async () => {
    const wrong = await top('--query', 'name,temperature.gpu');
    expect(wrong).toMatch(/^FAILED --query: 'temperature.gpu' is no field; there are: .*utilization.gpu/);
    expect(await top('--query', 'name,')).toMatch(/a field is empty/);
    expect(await top('--query', 'name', '--format', 'xml')).toMatch(/--format: 'xml'; it is csv/);
    expect(await top('--format', 'csv')).toContain('--format goes with --query');
    expect(await top('--query', 'name', '--json')).toContain('choose one');
    expect(await top('--interval', '0')).toMatch(/from 0.1 to 3600/);
    expect(await runGpuCommand('top', '--help')).toContain('utilization.gpu');
  });

  it('gives JSON, one line a reading', async () => {
    const gpus = JSON.parse(await top('--once', '--json')) as readonly GpuAnswer[];
    expect(gpus[0]).toMatchObject({ name: 'NVIDIA H200', power: { limit_watts: 700 } });
  });

  it('goes on until it is interrupted', async () => {
    const running = top('--json', '--interval', '0.1');
    const asked = vi.fn();
    Object.defineProperty(harness, 'nodes', {
      configurable: true,
      get: () => {
        asked();
        return [report(1)];
      },
    });
    await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(2), { timeout: 10_000 });
    process.emit('SIGINT');
    const lines = (await running).trim().split('\n');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
    Object.defineProperty(harness, 'nodes', { configurable: true, writable: true, value: [] });
  });

  it('waits for the first sample, and says when there is none', async () => {
    harness.nodes = [];
    setTimeout(() => (harness.nodes = [report(1)]), 300);
    expect(await top('--once')).toContain('NVIDIA H200');
    harness.nodes = [];
    expect(await top('--once')).toBe('FAILED the server has no GPU node that is running');
  });

  it('says when nobody answers', async () => {
    const failed = await runGpuCommand('top', '--once', '--management-url', 'http://127.0.0.1:1');
    expect(failed).toMatch(/^FAILED no server answers at .*; start one with: windjammer serve/);
  });
});
