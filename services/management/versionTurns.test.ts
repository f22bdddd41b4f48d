import { expect, it } from 'vitest';
import { VersionTurns } from './versionTurns.js';

it('lets one of a version run at a time, whatever becomes of it, and others beside it', async () => {
  const turns = new VersionTurns();
  const seen: string[] = [];
  const ends: (() => void)[] = [];
  const task = (name: string) => () => {
    seen.push(name);
    return new Promise<string>((resolve, reject) => {
      ends.push(() => (name === 'b' ? reject(new Error('broken')) : resolve(name)));
    });
  };
  const started = (count: number) => expect.poll(() => ends.length).toBe(count);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => turns.run('m', '1', task(name)));
  const other = turns.run('m', '2', task('other'));
  await started(2);
  expect(seen).toEqual(['a', 'other']);
  ends[1]();
  await other;
  ends[0]();
  await started(3);
  ends[2]();
  await expect(b).rejects.toThrow('broken');
  await started(4);
  ends[3]();
  expect(await Promise.all([a, c])).toEqual(['a', 'c']);
  expect(seen).toEqual(['a', 'other', 'b', 'c']);
  const again = turns.run('m', '1', () => Promise.resolve('again'));
  expect(await again).toBe('again');
});
