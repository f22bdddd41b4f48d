import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { lowerModule, parseModule } from '../../../ptx/index.js';
import { judgeInstance, OracleBench } from '../oracles/index.js';
import { HELD_OUT_KERNELS, heldOutFolder } from './bodies.js';
import { heldOutInstance, labelByPlan, launchesOf } from './instances.js';

/**
 * Packs what compile.sh has made, and labels every launch by the oracles: node packHeldOut.js PTX_FOLDER. Bodies of a kernel
 * whose texts are the same count once.
 */
const [from] = process.argv.slice(2);
if (from === undefined) throw new Error('usage: packHeldOut.js PTX_FOLDER');

const texts = new Map<string, Record<string, string>>();
for (const file of readdirSync(from).sort()) {
  const [source = '', variant = ''] = file.split('.');
  texts.set(source, { ...texts.get(source), [variant]: readFileSync(`${from}/${file}`, 'utf8') });
}
const folder = heldOutFolder();
mkdirSync(`${folder}/packed`, { recursive: true });
for (const [source, variants] of texts)
  writeFileSync(`${folder}/packed/${source}.json.br`, brotliCompressSync(JSON.stringify(variants)));

const bench = new OracleBench();
const bodies: { entry: string; variant: string; labels: string }[] = [];
for (const kernel of HELD_OUT_KERNELS) {
  const seen = new Set<string>();
  for (const [variant, text] of Object.entries(texts.get(kernel.source) ?? {})) {
    const start = text.indexOf(`.entry ${kernel.entry}(`);
    const hash = createHash('sha256')
      .update(text.slice(start, text.indexOf('\n}', start)))
      .digest('hex');
    if (seen.has(hash)) continue;
    seen.add(hash);
    const ir = parseModule(text, `${kernel.source}.${variant}.ptx`);
    const runs = lowerModule(ir).functions.some(
      ({ name, refusal }) => name === kernel.entry && refusal === undefined,
    );
    const labels = launchesOf(kernel).map((launch) => {
      if (!runs) return labelByPlan(launch);
      const judgement = judgeInstance(bench, heldOutInstance(kernel, ir, launch), { kills: 8 });
      return judgement.kind === 'fault' ? 'x' : judgement.idempotent ? 'i' : 'n';
    });
    bodies.push({ entry: kernel.entry, variant, labels: labels.join('') });
  }
}
writeFileSync(
  `${folder}/bodies.json`,
  `[\n${bodies.map((each) => `  ${JSON.stringify(each)}`).join(',\n')}\n]\n`,
);
process.stdout.write(`${bodies.length} bodies of ${HELD_OUT_KERNELS.length} kernels\n`);
