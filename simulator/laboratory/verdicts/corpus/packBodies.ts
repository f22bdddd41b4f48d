import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { KERNELS } from './manifests/index.js';

/**
 * Packs what compile.sh has made: node packBodies.js PTX_FOLDER CORPUS_FOLDER. Of each kernel those variants count whose text
 * differs from that of all before.
 */
const MOST_BODIES = 3;
const MOST_BODIES_OF_CONSTANT_EXTENTS = 2;

const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined) throw new Error('usage: packBodies.js PTX_FOLDER CORPUS_FOLDER');

const texts = new Map<string, Map<string, string>>();
for (const file of readdirSync(from).sort()) {
  const match = /^([^.]+)\.(.+)\.ptx$/.exec(file);
  if (match === null) continue;
  const [, source = '', variant = ''] = match;
  const variants = texts.get(source) ?? new Map<string, string>();
  texts.set(source, variants.set(variant, readFileSync(`${from}/${file}`, 'utf8')));
}

const bodies: { entry: string; variant: string; hash: string }[] = [];
for (const [position, { entry, family }] of KERNELS.entries()) {
  const found = new Map<string, string>();
  const variants = [...(texts.get(family) ?? [])];
  // Each kernel begins with another variant, so that all are well represented.
  for (let turn = 0; turn < variants.length; turn++) {
    const [variant, text] = variants[(position + turn) % variants.length] ?? ['', ''];
    const start = text.indexOf(`.entry ${entry}(`);
    if (start < 0) continue;
    const hash = createHash('sha256')
      .update(text.slice(start, text.indexOf('\n}', start)))
      .digest('hex')
      .slice(0, 16);
    if (!found.has(hash)) found.set(hash, variant);
  }
  const most = family === 'tvm' ? MOST_BODIES_OF_CONSTANT_EXTENTS : MOST_BODIES;
  if (found.size === 0) throw new Error(`no text has an entry ${entry}`);
  for (const [hash, variant] of [...found].slice(0, most)) bodies.push({ entry, variant, hash });
}

mkdirSync(`${to}/packed`, { recursive: true });
let packedBytes = 0;
for (const [source, variants] of texts) {
  const text = JSON.stringify(Object.fromEntries(variants));
  const bytes = brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  });
  packedBytes += bytes.length;
  writeFileSync(`${to}/packed/${source}.json.br`, bytes);
}
writeFileSync(
  `${to}/packed/bodies.json`,
  `[\n${bodies.map((each) => `  ${JSON.stringify(each)}`).join(',\n')}\n]\n`,
);
process.stdout.write(`${bodies.length} bodies of ${KERNELS.length} kernels, ${packedBytes} bytes\n`);
