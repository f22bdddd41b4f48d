import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobChunk, JobLedger } from '../job.js';

export async function* chunked(...chunks: readonly (readonly string[])[]): AsyncGenerator<JobChunk> {
  await Promise.resolve();
  let firstLine = 1;
  for (const lines of chunks) {
    yield { firstLine, lines };
    firstLine += lines.length;
  }
}

export const APPLICATION = { application: 'app', launchClass: 'bestEffort' } as const;
const results = (text: string) => ({ text, answered: text.split('\n').length - 1, failed: 0 });

/** What every ledger of jobs must do. `open` gives it as it was left; `fresh` forgets all before. */
export function jobLedgerConformance(
  name: string,
  open: () => Promise<JobLedger>,
  fresh: () => Promise<void>,
): void {
  describe(`${name}: job ledger`, () => {
    let ledger: JobLedger;
    beforeEach(async () => {
      await fresh();
      ledger = await open();
    });
    afterEach(() => ledger.stop());

    it('keeps a job with its chunks, and results once, in whatever order they come', async () => {
      const { id, ...rest } = await ledger.create(APPLICATION, chunked(['[1]', '', '[2]'], ['[3]']));
      expect(rest).toMatchObject({ ...APPLICATION, lines: 3, chunks: 2 });
      expect(await ledger.chunk(id, 0)).toEqual({ firstLine: 1, lines: ['[1]', '', '[2]'] });
      expect(await ledger.chunk(id, 1)).toEqual({ firstLine: 4, lines: ['[3]'] });
      expect(await ledger.keep(id, 1, results('c\n'))).toBe(true);
      expect(await ledger.results(id, 0)).toBeUndefined();
      expect(await ledger.progress(id)).toMatchObject({ state: 'running', answered: 1 });
      const kept = await Promise.all([
        ledger.keep(id, 0, results('a\nb\n')),
        ledger.keep(id, 0, results('x\ny\n')),
      ]);
      expect(kept.filter((one) => one)).toHaveLength(1);
      expect(await ledger.keep(id, 1, results('other\n'))).toBe(false);
      expect(await ledger.results(id, 1)).toBe('c\n');
      expect(await ledger.progress(id)).toMatchObject({ state: 'done', answered: 3, failed: 0 });
    });

    it('has everything when it is opened again', async () => {
      const { id } = await ledger.create(APPLICATION, chunked(['1'], ['2']));
      await ledger.keep(id, 0, results('é\n'));
      await ledger.stop();
      ledger = await open();
      expect(await ledger.progress(id)).toMatchObject({ state: 'running', answered: 1 });
      expect(await ledger.results(id, 0)).toBe('é\n');
      expect(await ledger.keep(id, 0, results('again\n'))).toBe(false);
    });

    it('has no lines any more for a chunk that has its results', async () => {
      const { id } = await ledger.create(APPLICATION, chunked(['1'], ['2']));
      await ledger.keep(id, 0, results('a\n'));
      expect(await ledger.chunk(id, 0)).toBeUndefined();
      expect(await ledger.chunk(id, 1)).toEqual({ firstLine: 2, lines: ['2'] });
    });

    it('lists jobs in the order of their creation', async () => {
      const ids: string[] = [];
      for (let at = 0; at < 5; at++) ids.push((await ledger.create(APPLICATION, chunked(['1']))).id);
      expect((await ledger.list()).map(({ description }) => description.id).sort()).toEqual(ids.sort());
      const created = (await ledger.list()).map(({ description }) => description.createdMs);
      expect(created).toEqual([...created].sort((a, b) => a - b));
    });

    it('takes a job without lines, which is done at once', async () => {
      const { id } = await ledger.create(APPLICATION, chunked());
      expect(await ledger.progress(id)).toMatchObject({ state: 'done', answered: 0 });
      await ledger.remove(id);
    });

    it('keeps nothing of an input that breaks off', async () => {
      const broken = (async function* () {
        yield* chunked(['1']);
        throw new Error('the client is gone');
      })();
      await expect(ledger.create(APPLICATION, broken)).rejects.toThrow('the client is gone');
      expect(await ledger.list()).toEqual([]);
    });

    it('takes no more results of a job that is cancelled, and has nothing of one that is removed', async () => {
      const { id } = await ledger.create(APPLICATION, chunked(['1'], ['2']));
      await ledger.keep(id, 0, results('a\n'));
      await ledger.cancel(id);
      expect(await ledger.keep(id, 1, results('b\n'))).toBe(false);
      expect(await ledger.progress(id)).toMatchObject({ state: 'cancelled', answered: 1 });
      expect(await ledger.results(id, 0)).toBe('a\n');
      await ledger.remove(id);
      expect(await ledger.progress(id)).toBeUndefined();
      expect(await ledger.keep(id, 1, results('b\n'))).toBe(false);
      for (const act of [
        () => ledger.cancel(id),
        () => ledger.remove(id),
        () => ledger.results(id, 0),
        () => ledger.chunk(id, 0),
      ]) {
        await expect(act()).rejects.toMatchObject({ code: 'unknown' });
      }
    });

    it('hands out what has no results, of all jobs, and again what came to nothing', async () => {
      const first = await ledger.create(APPLICATION, chunked(...Array.from({ length: 30 }, () => ['1'])));
      const second = await ledger.create(APPLICATION, chunked(['2']));
      await ledger.keep(first.id, 3, results('kept\n'));
      const taken: string[] = [];
      let failures = 3;
      const done = new Promise<void>((resolve) => {
        ledger.work(async (id, index) => {
          taken.push(`${id} ${index}`);
          if (failures-- > 0) return;
          await ledger.keep(id, index, results('x\n'));
          const [one, two] = [await ledger.progress(first.id), await ledger.progress(second.id)];
          if (one?.state === 'done' && two?.state === 'done') resolve();
        });
      });
      await done;
      expect(taken).not.toContain(`${first.id} 3`);
      expect(new Set(taken).size).toBe(30);
      expect(taken.length).toBe(33);
      // A short job does not wait for a long one.
      expect(taken.indexOf(`${second.id} 0`)).toBeLessThan(10);
    });
  });
}
