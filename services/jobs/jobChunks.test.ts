import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHUNK_LINES, MOST_LINE_BYTES, type JobChunk } from './job.js';
import { jobChunks } from './jobChunks.js';

async function chunksOf(pieces: readonly Uint8Array[]): Promise<JobChunk[]> {
  const chunks: JobChunk[] = [];
  const source = (async function* () {
    await Promise.resolve();
    yield* pieces;
  })();
  for await (const chunk of jobChunks(source)) chunks.push(chunk);
  return chunks;
}

/** Line numbers and texts of lines that ask. */
function asked(chunks: readonly JobChunk[]): (readonly [number, string])[] {
  return chunks.flatMap(({ firstLine, lines }) =>
    lines.flatMap((line, at) => (line === '' ? [] : [[firstLine + at, line] as const])),
  );
}

describe('lines of a job', () => {
  it('come out as they went in, however they are cut', async () => {
    const line = fc.oneof(fc.constant(''), fc.constant('  '), fc.string({ unit: 'grapheme' }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          line.map((text) => text.replaceAll(/[\n\r\uFEFF]/g, '_')),
          { maxLength: 400 },
        ),
        fc.array(fc.nat(2000), { maxLength: 20 }),
        async (lines, cuts) => {
          const bytes = Buffer.from(lines.join('\n'));
          const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort(
            (a, b) => a - b,
          );
          const pieces = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
          const chunks = await chunksOf(pieces);
          expect(asked(chunks)).toEqual(
            lines.flatMap((text, at) => (text.trim() === '' ? [] : [[at + 1, text]])),
          );
          for (const chunk of chunks) expect(asked([chunk]).length).toBeLessThanOrEqual(CHUNK_LINES);
        },
      ),
      { seed: 7, numRuns: 100 },
    );
  });

  it('names the line that is too long, and the one that is no UTF-8', async () => {
    await expect(chunksOf([Buffer.from('1\n2\n'), Buffer.alloc(MOST_LINE_BYTES + 1, 32)])).rejects.toThrow(
      'line 3 is longer than 16 MiB',
    );
    await expect(chunksOf([Buffer.from([49, 10, 0xff, 10])])).rejects.toThrow('line 2 is no valid UTF-8');
  });

  it('begins without a byte order mark', async () => {
    expect(asked(await chunksOf([Buffer.from('\uFEFF[1]\r\n[2]')]))).toEqual([
      [1, '[1]\r'],
      [2, '[2]'],
    ]);
  });
});
