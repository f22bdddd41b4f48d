import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { withinTime } from './withinTime.js';

it('hears what arrived while this process stood still, however long that was', async () => {
  const read = withinTime(20, stat(fileURLToPath(import.meta.url)));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  await expect(read).resolves.toMatchObject({ size: expect.any(Number) as number });
});

it('gives up on what does not come', async () => {
  await expect(withinTime(5, new Promise(() => undefined))).rejects.toThrow('nothing was heard for 0.005 s');
});

it('passes on what fails', async () => {
  await expect(withinTime(1000, Promise.reject(new Error('no')))).rejects.toThrow('no');
});
