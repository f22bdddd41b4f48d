import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** What a card gave for every form: digests over the results of all and of the first cases, and the results of the first cases. */
export interface Measured {
  readonly card: string;
  readonly driver: string;
  readonly assembler: string;
  readonly cases: number;
  readonly results: Readonly<
    Record<string, { readonly digest: string; readonly firstDigest: string; readonly samples: string }>
  >;
}

interface StoredResults extends Omit<Measured, 'results'> {
  /** Digests and samples in one text. */
  readonly results: Readonly<Record<string, string>>;
}

export const samplesPerForm = 4;

/** Cases of the second digest, for a quicker look. */
export const firstCases = 512;

export function readMeasured(): Measured {
  const stored = JSON.parse(readFileSync(new URL('results.json', import.meta.url), 'utf8')) as StoredResults;
  const results = Object.entries(stored.results).map(([name, text]) => {
    const [digest = '', firstDigest = '', ...samples] = text.split(' ');
    return [name, { digest, firstDigest, samples: samples.join(' ') }] as const;
  });
  return { ...stored, results: Object.fromEntries(results) };
}

/** Short digest of all results of a form, case after case. */
export function digestOf(results: BigUint64Array): string {
  return createHash('sha256')
    .update(new Uint8Array(results.buffer, results.byteOffset, results.byteLength))
    .digest('hex')
    .slice(0, 16);
}

/** Results of the first cases as text: words of one case joined by a comma. */
export function samplesOf(results: BigUint64Array, words: number): string {
  return Array.from({ length: samplesPerForm }, (_, index) =>
    [...results.subarray(index * words, (index + 1) * words)].map((word) => word.toString(16)).join(','),
  ).join(' ');
}
