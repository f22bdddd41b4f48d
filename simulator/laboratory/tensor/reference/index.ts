import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { packageRoot } from '../../../files/index.js';

/** Where `keepReference.ts` writes, and the reader looks. */
export const referencePath = 'simulator/laboratory/tensor/reference/h200.br';

/** What the file begins with, after its length in bytes. */
export interface ReferenceHead {
  readonly card: string;
  readonly driver: string;
  readonly ptxas: string;
  /** Of every form: digest of the digests of its chunks of random tiles. */
  readonly digests: Readonly<Record<string, string>>;
  /** Forms of which outputs follow, in this order, and how many words of each; which tiles they are says `referenceTiles`. */
  readonly kept: readonly { readonly form: string; readonly words: number }[];
}

export interface Reference extends ReferenceHead {
  /** Outputs of the tiles that are kept of each form, one after the other. */
  readonly outputs: ReadonlyMap<string, Uint32Array>;
}

/** What a card left: a digest of every form, and some forms' tiles. */
export function readReference(): Reference {
  const bytes = brotliDecompressSync(readFileSync(join(packageRoot(), referencePath)));
  const begin = 4 + bytes.readUInt32LE(0);
  const head = JSON.parse(bytes.toString('utf8', 4, begin)) as ReferenceHead;
  const outputs = new Map<string, Uint32Array>();
  let at = begin;
  for (const { form, words } of head.kept) {
    outputs.set(form, new Uint32Array(new Uint8Array(bytes.subarray(at, at + 4 * words)).buffer));
    at += 4 * words;
  }
  return { ...head, outputs };
}
