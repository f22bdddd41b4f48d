import { readFileSync, writeFileSync } from 'node:fs';
import { corpusBodies } from './bodies.js';
import type { BodyLabels } from './labels.js';

/** Joins the parts that labelCorpus has written: node joinLabels.js TARGET.json PART.json … */
const [target, ...parts] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: joinLabels.js TARGET.json PART.json …');

const known = new Map(
  parts
    .flatMap((part) => JSON.parse(readFileSync(part, 'utf8')) as BodyLabels[])
    .map((labels) => [labels.id, labels]),
);
const lines = corpusBodies().map(({ id }) => {
  const labels = known.get(id);
  if (labels === undefined) throw new Error(`${id} is in no part`);
  return JSON.stringify(labels);
});
writeFileSync(target, `[\n${lines.join(',\n')}\n]\n`);
