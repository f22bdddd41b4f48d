import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judgeInstance, type Judgement, type JudgementOptions, type OracleBench } from '../oracles/index.js';
import { bodyText, corpusBodies, type CorpusBody } from './bodies.js';
import { corpusFolder } from './corpusFolder.js';
import { corpusInstance, instanceCount, instanceDigest } from './corpusInstances.js';

/** What the oracles say of an instance: idempotent, not idempotent, or no instance at all because it faults. */
export type Label = 'i' | 'n' | 'x';

/** Classes of a kernel by what its instances are. */
export type KernelLabel = 'idempotent' | 'nonIdempotent' | 'conditional';

/** The truth about one body, frozen. */
export interface BodyLabels {
  readonly id: string;
  readonly kernel: KernelLabel;
  /** A label for each instance, in order. */
  readonly labels: string;
  /** Digest of the body's text and of all its instances. */
  readonly digest: string;
}

/** What is frozen of the corpus. */
export function frozenLabels(): readonly BodyLabels[] {
  return JSON.parse(readFileSync(join(corpusFolder(), 'labels.json'), 'utf8')) as readonly BodyLabels[];
}

export function labelOf(judgement: Judgement): Label {
  if (judgement.kind === 'fault') return 'x';
  return judgement.idempotent ? 'i' : 'n';
}

export function bodyDigest(body: CorpusBody): string {
  const text = bodyText(body);
  const start = text.indexOf(`.entry ${body.manifest.entry}(`);
  const hash = createHash('sha256').update(text.slice(start, text.indexOf('\n}', start)));
  for (let index = 0; index < instanceCount(body); index++)
    hash.update(instanceDigest(corpusInstance(body, index)));
  return hash.digest('hex').slice(0, 16);
}

/**
 * Judges every instance of a body. Where all of them are of one kind, an instance of the other is looked for by changing
 * pointers alone: all buffers equal for an idempotent kernel, all apart for one that is not.
 */
export function labelBody(
  bench: OracleBench,
  body: CorpusBody,
  options: JudgementOptions,
  onJudged: (judgement: Judgement, index: number) => void = () => undefined,
): BodyLabels {
  let labels = '';
  for (let index = 0; index < instanceCount(body); index++) {
    const judgement = judgeInstance(bench, corpusInstance(body, index), options);
    onJudged(judgement, index);
    labels += labelOf(judgement);
  }
  return { id: body.id, kernel: kernelLabel(bench, body, labels, options), labels, digest: bodyDigest(body) };
}

/** Instances that are tried with pointers changed. */
const OPPOSITES = 4;

function kernelLabel(
  bench: OracleBench,
  body: CorpusBody,
  labels: string,
  options: JudgementOptions,
): KernelLabel {
  const hasIdempotent = labels.includes('i');
  if (hasIdempotent && labels.includes('n')) return 'conditional';
  const plan = hasIdempotent ? 'equal' : 'distinct';
  for (let index = 0; index < OPPOSITES; index++) {
    const judgement = judgeInstance(bench, corpusInstance(body, index, plan), options);
    if (labelOf(judgement) === (hasIdempotent ? 'n' : 'i')) return 'conditional';
  }
  return hasIdempotent ? 'idempotent' : 'nonIdempotent';
}

/** Digest of everything: bodies, instances and labels. */
export function corpusDigest(labels: readonly BodyLabels[]): string {
  return createHash('sha256').update(JSON.stringify(labels)).digest('hex');
}

/** Bodies with their frozen labels. @throws RangeError when a body has none. */
export function labelledBodies(): readonly { readonly body: CorpusBody; readonly truth: BodyLabels }[] {
  const frozen = new Map(frozenLabels().map((labels) => [labels.id, labels]));
  return corpusBodies().map((body) => {
    const truth = frozen.get(body.id);
    if (truth === undefined) throw new RangeError(`${body.id} has no labels: label the corpus anew`);
    return { body, truth };
  });
}
