import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileLedger } from './index.js';
import { APPLICATION, chunked, jobLedgerConformance } from './tests/jobLedger.js';

let folder = '';
const fresh = () => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
  folder = mkdtempSync(join(tmpdir(), 'windjammer-jobs-'));
  return Promise.resolve();
};
const open = (bytes = 2 ** 20) => FileLedger.open(folder, bytes);

jobLedgerConformance('FileLedger', open, fresh);

describe('FileLedger', () => {
  it('counts what a crash left of the last results as not there, wherever it cut', async () => {
    await fresh();
    const ledger = await open();
    const { id } = await ledger.create(APPLICATION, chunked(['1'], ['2'], ['3']));
    for (const at of [0, 1]) await ledger.keep(id, at, { text: `result ${at}\n`, answered: 1, failed: at });
    await ledger.stop();
    const file = join(folder, id, 'results');
    const whole = readFileSync(file);
    for (let cut = 0; cut <= whole.length; cut++) {
      writeFileSync(file, whole);
      truncateSync(file, cut);
      // As a file system may leave it.
      appendFileSync(file, Buffer.alloc(cut % 50));
      const again = await open();
      const answered = cut < whole.length / 2 ? 0 : cut < whole.length ? 1 : 2;
      expect(await again.progress(id)).toMatchObject({ answered });
      for (const at of [0, 1, 2]) {
        expect(await again.keep(id, at, { text: `other ${at}\n`, answered: 1, failed: 0 })).toBe(
          at >= answered,
        );
      }
      const last = await open();
      expect(await last.progress(id)).toMatchObject({ state: 'done', answered: 3 });
      expect(await last.results(id, 2)).toBe('other 2\n');
      expect(await last.results(id, 0)).toBe(answered > 0 ? 'result 0\n' : 'other 0\n');
    }
  });

  it('takes no more than it may, and says what to do; a job that does not fit leaves nothing', async () => {
    await fresh();
    const ledger = await open(200);
    const { id } = await ledger.create(APPLICATION, chunked(['1']));
    await expect(ledger.create(APPLICATION, chunked(['x'.repeat(300)]))).rejects.toThrow(
      /--jobs-mib.*remove jobs/,
    );
    await expect(ledger.keep(id, 0, { text: 'x'.repeat(300), answered: 1, failed: 0 })).rejects.toMatchObject(
      {
        code: 'full',
      },
    );
    expect(await ledger.keep(id, 0, { text: 'short\n', answered: 1, failed: 0 })).toBe(true);
    expect(readdirSync(folder)).toEqual([id]);
  });

  it('serves on beside a job that is damaged, tells which it is, and removes it when it is told to', async () => {
    await fresh();
    const ledger = await open();
    const good = await ledger.create(APPLICATION, chunked(['1'], ['2']));
    await ledger.keep(good.id, 0, { text: 'kept\n', answered: 1, failed: 0 });
    const bad: string[] = [];
    const damages: readonly ((job: string) => void)[] = [
      (job) => writeFileSync(join(job, 'job.json'), '{"description":'),
      (job) => writeFileSync(join(job, 'job.json'), ''),
      (job) => writeFileSync(join(job, 'job.json'), Buffer.alloc(100)),
      (job) => writeFileSync(join(job, 'job.json'), '{"description":{"id":7},"input":[]}'),
      (job) => writeFileSync(join(job, 'job.json'), readFileSync(join(folder, good.id, 'job.json'))),
      (job) => rmSync(join(job, 'job.json')),
      (job) => rmSync(join(job, 'results')),
      (job) => truncateSync(join(job, 'input'), 5),
      (job) => {
        rmSync(join(job, 'job.json'));
        mkdirSync(join(job, 'job.json'));
      },
    ];
    for (const damage of damages) {
      const { id } = await ledger.create(APPLICATION, chunked(['3']));
      bad.push(id);
      damage(join(folder, id));
    }
    writeFileSync(join(folder, 'note.txt'), 'somebody else left this');
    await ledger.stop();

    const again = await open();
    expect((await again.list()).map(({ description }) => description.id)).toEqual([good.id]);
    expect(await again.results(good.id, 0)).toBe('kept\n');
    expect(
      again
        .unreadable()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...bad].sort());
    expect(again.unreadable().find(({ id }) => id === bad[0])?.reason).toBe('its job.json is no JSON');
    expect(again.counts()).toMatchObject({ jobs: { running: 1 }, unreadable: bad.length });
    await again.remove(bad[0]);
    expect(again.unreadable().map(({ id }) => id)).not.toContain(bad[0]);
    expect(readdirSync(folder)).not.toContain(bad[0]);
    expect(readdirSync(folder)).toContain(bad[1]);
  });

  it('says so where lines of an input are damaged', async () => {
    await fresh();
    const ledger = await open();
    const { id } = await ledger.create(APPLICATION, chunked(['1'], ['2']));
    const input = join(folder, id, 'input');
    writeFileSync(input, Buffer.alloc(readFileSync(input).length));
    await expect(ledger.chunk(id, 1)).rejects.toMatchObject({ code: 'unusable' });
  });

  it('is gone with its process where it is temporary', async () => {
    await fresh();
    const ledger = await FileLedger.open(join(folder, 'temporary'), 1000, true);
    await ledger.create(APPLICATION, chunked(['1']));
    await ledger.stop();
    expect(readdirSync(folder)).toEqual([]);
  });
});
