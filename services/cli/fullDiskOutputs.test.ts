import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  importSklearn,
  loadKernelModel,
  writeModelFolder,
  type ImportedModel,
} from '../../containers/models/index.js';
import { runBatchJob, type BatchJobOptions } from '../batchJob/index.js';
import { OutputFile } from './outputFile.js';
import type { HttpCalls } from '../client/index.js';

const mount = (...args: readonly string[]): boolean => spawnSync('mount', args).status === 0;
const umount = (folder: string): boolean => spawnSync('umount', [folder]).status === 0;

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-mount-'));
  const can = mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder) && umount(folder);
  rmSync(folder, { recursive: true });
  return can;
}

/** Logistic regression of so many features over two classes, as `sklearnExport.py` writes it. */
function regression(features: number): ImportedModel {
  const text = JSON.stringify({
    format: 'windjammer-sklearn',
    formatVersion: 1,
    sklearnVersion: '1.7.0',
    name: 'regression',
    estimator: 'LogisticRegression',
    features,
    classes: ['a', 'b'],
    steps: [],
    model: {
      kind: 'linear',
      coefficients: [Array.from({ length: features }, (_, at) => at / 7)],
      intercepts: [0.5],
      probabilities: 'logistic',
    },
    golden: [],
  });
  return importSklearn(text, 'model.json', { inputType: 'doubles', maxBatchSize: 4 });
}

describe.runIf(mayMount())('what is written to a full disk', () => {
  let disk: string;
  beforeEach(() => {
    disk = mkdtempSync(join(tmpdir(), 'windjammer-disk-'));
    mount('-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk);
  });
  afterEach(() => {
    umount(disk);
    rmSync(disk, { recursive: true });
  });

  /** @param leave bytes that are left free, in whole pages */
  const fill = (leave: number): void => {
    const hog = join(disk, 'hog');
    const file = openSync(hog, 'w');
    const page = Buffer.alloc(4096);
    let pages = 0;
    try {
      for (;;) pages += writeSync(file, page) / 4096;
    } catch {
      closeSync(file);
    }
    writeFileSync(hog, Buffer.alloc((pages - leave / 4096) * 4096));
  };

  it('is whole lines of a batch job, which stops by the file’s name and goes on once there is room', async () => {
    const input = mkdtempSync(join(tmpdir(), 'windjammer-input-'));
    const output = join(disk, 'out.jsonl');
    writeFileSync(join(input, 'in.jsonl'), Array.from({ length: 400 }, (_, at) => `[${at}]\n`).join(''));
    const run = (existing: BatchJobOptions['existing']): ReturnType<typeof runBatchJob> =>
      runBatchJob({
        application: 'digits',
        input: join(input, 'in.jsonl'),
        output,
        existing,
        concurrency: 8,
        retries: 0,
        timeoutMs: 1000,
        launchClass: 'bestEffort',
        calls: { post: () => Promise.resolve({ output: 'x'.repeat(100) }) } as unknown as HttpCalls,
        sleep: () => Promise.resolve(),
      });
    fill(16_384);
    await expect(run('refuse')).rejects.toThrow(/out\.jsonl: ENOSPC/);
    const lines = readFileSync(output, 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('output');
    rmSync(join(disk, 'hog'));
    await run('resume');
    expect(new Set(readFileSync(output, 'utf8').trimEnd().split('\n')).size).toBe(400);
    rmSync(input, { recursive: true });
  });

  it('leaves no part of a command’s output, and what had the name before', () => {
    const path = join(disk, 'report.json');
    writeFileSync(path, 'earlier');
    fill(8192);
    const file = new OutputFile(path, '--out');
    expect(() => {
      for (let at = 0; at < 10; at++) file.write('x'.repeat(4096));
    }).toThrow(/^--out: ENOSPC.*report\.json/);
    file.close();
    expect(readFileSync(path, 'utf8')).toBe('earlier');
    expect(readdirSync(disk).sort()).toEqual(['hog', 'report.json']);
  });

  it('leaves no part of an import, and the earlier import as it was', () => {
    const folder = join(disk, 'model');
    const first = regression(8);
    writeModelFolder(first, folder);
    const before = readdirSync(folder).sort();
    fill(8192);
    expect(() => writeModelFolder(regression(4096), folder)).toThrow(/model: cannot be written \(ENOSPC/);
    expect(readdirSync(folder).sort()).toEqual(before);
    expect(loadKernelModel(folder).manifest).toEqual(JSON.parse(JSON.stringify(first.manifest)));
    const other = join(disk, 'other');
    expect(() => writeModelFolder(regression(4096), other)).toThrow(/other: cannot be written/);
    expect(existsSync(other)).toBe(false);
  });
});
