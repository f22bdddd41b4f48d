import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** What a card gave for every form: a digest over all results of all cases, and the results of the first cases. */
export interface Measured {
  readonly card: string;
  readonly driver: string;
  readonly assembler: string;
  readonly cases: number;
  readonly results: Readonly<Record<string, { readonly digest: string; readonly samples: string }>>;
}

interface StoredResults extends Omit<Measured, 'results'> {
  /** Digest and samples in one text. */
  readonly results: Readonly<Record<string, string>>;
}

export const samplesPerForm = 4;

export function readMeasured(): Measured {
  const stored = JSON.parse(readFileSync(new URL('results.json', import.meta.url), 'utf8')) as StoredResults;
  const results = Object.entries(stored.results).map(([name, text]) => {
    const [digest = '', ...samples] = text.split(' ');
    return [name, { digest, samples: samples.join(' ') }] as const;
  });
  return { ...stored, results: Object.fromEntries(results) };
}

/** Short digest of all results of a form, case after case. */
export function digestOf(results: BigUint64Array): string {
  return createHash('sha256').update(new Uint8Array(results.buffer)).digest('hex').slice(0, 16);
}

/** Results of the first cases as text: words of one case joined by a comma. */
export function samplesOf(results: BigUint64Array, words: number): string {
  return Array.from({ length: samplesPerForm }, (_, index) =>
    [...results.subarray(index * words, (index + 1) * words)].map((word) => word.toString(16)).join(','),
  ).join(' ');
}
