import { createHash } from 'node:crypto';
import type { LaunchInstance } from '../oracles/index.js';
import { bodyModule, type CorpusBody } from './bodies.js';
import { drawInstance, type CorpusInstance } from './instanceGenerator.js';
import type { Plan } from './placement.js';

/** Instances of a body whose manifest has weight 1. */
const INSTANCES_OF_A_BODY = 40;

/** All draws begin here. */
const CORPUS_SEED = 2026;

export function instanceCount({ manifest }: CorpusBody): number {
  return Math.round(INSTANCES_OF_A_BODY * (manifest.weight ?? 1));
}

/** Instance `index` of a body, the same at every call. */
export function corpusInstance(body: CorpusBody, index: number, plan?: Plan): CorpusInstance {
  return drawInstance(body.manifest, bodyModule(body), seedOf(`${body.id} ${index}`), plan);
}

/** Seed of a name. */
function seedOf(name: string): number {
  return createHash('sha256').update(`${CORPUS_SEED} ${name}`).digest().readInt32LE(0);
}

/** A digest of what a launch is made of, code apart: dimensions, arguments, what memory holds. */
export function instanceDigest(instance: LaunchInstance): string {
  const hash = createHash('sha256');
  const { grid, block, dynamicSharedBytes } = instance.shape;
  hash.update(JSON.stringify([instance.entry, grid, block, dynamicSharedBytes]));
  for (const { bytes, pointers = [] } of [...instance.args, ...instance.allocations]) {
    hash.update(`${bytes.length} ${JSON.stringify(pointers)}`);
    hash.update(bytes);
  }
  return hash.digest('hex');
}
