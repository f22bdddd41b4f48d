import { writeFileSync } from 'node:fs';
import { OracleBench, type Judgement } from '../oracles/index.js';
import { bodyModule, corpusBodies } from './bodies.js';
import { labelBody, type BodyLabels } from './labels.js';

/**
 * Judges the corpus: node labelCorpus.js TARGET.json [--part I/N] [--kills K] [--only TEXT]. Parts are joined by joining their arrays
 * in order of bodies (see joinLabels). Tells figures of the run on stderr.
 */
const target = process.argv[2];
const option = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
if (target === undefined)
  throw new Error('usage: labelCorpus.js TARGET.json [--part I/N] [--kills K] [--only TEXT]');
const [part = 0, parts = 1] = (option('part') ?? '0/1').split('/').map(Number);
const kills = Number(option('kills') ?? 32);
const only = option('only') ?? '';

const bench = new OracleBench();
const totals = { instances: 0, idempotent: 0, faults: 0, kills: 0, reruns: 0, killOnly: 0, racy: 0 };
const all: BodyLabels[] = [];
corpusBodies().forEach((body, position) => {
  if (position % parts !== part || !body.id.includes(only)) return;
  const before = { ...totals };
  let fault = '';
  const started = process.cpuUsage();
  const labels = labelBody(bench, body, { kills }, (judgement: Judgement) => {
    totals.instances++;
    if (judgement.kind === 'fault') {
      totals.faults++;
      fault = judgement.fault.message;
      return;
    }
    if (judgement.idempotent) totals.idempotent++;
    totals.kills += judgement.kill?.kills ?? 0;
    totals.reruns += judgement.kill?.reruns ?? 0;
    if (judgement.kill?.racy === true) totals.racy++;
    if (judgement.clobber === undefined && !judgement.idempotent) totals.killOnly++;
  });
  all.push(labels);
  const { user, system } = process.cpuUsage(started);
  const share = (totals.idempotent - before.idempotent) / (totals.instances - before.instances);
  process.stderr.write(
    `${body.id} ${bodyModule(body).file} ${labels.kernel} ${(100 * share).toFixed(0)} % idempotent, ` +
      `${((user + system) / 1e6).toFixed(2)} s ${fault}\n`,
  );
});
const { user, system } = process.cpuUsage();
process.stderr.write(`${JSON.stringify({ ...totals, cpuSeconds: (user + system) / 1e6 })}\n`);
writeFileSync(target, `${JSON.stringify(all, null, 1)}\n`);
