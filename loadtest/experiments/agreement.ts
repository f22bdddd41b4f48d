/**
 * The same trace through `windjammer loadtest` against a running server and through `windjammer replay`, with the times of this host:
 * how far latencies and batches are apart, and whether every answer is the same. Writes agreement.json, agreement.md and agreement.svg.
 * Needs a machine that does nothing else, and four of its cores for each row that runs at a time. Usage: npm run experiment agreement [-- --seed N] [--seconds N] [--only timed,digits-mlp]
 *   [--traces poisson,bursty,azure] [--loads 50,200,500] [--host-times FILE] [--together N] [--folder FOLDER]
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { compareOutputs } from './agreement/answers.js';
import { agreementFigure } from './agreement/agreementFigure.js';
import { agreementTable, type AgreementRow } from './agreement/agreementTable.js';
import { liveRun } from './agreement/liveRun.js';
import { hostTimesFrom, virtualRun } from './agreement/virtualRun.js';
import { subjectsNamed, type Subject } from './agreement/subjects.js';
import { TRACE_KINDS, traceOf, type TraceKind } from './agreement/traces.js';
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';

interface Asked {
  readonly subject: Subject;
  readonly kind: TraceKind;
  /** Queries a second. */
  readonly rate: number;
}

const { values, seed, folder } = experimentArguments('agreement', EXPERIMENTS.agreement);
const seconds = whole('seconds');
const loads = values.loads.split(',').map(Number);
const kinds = values.traces.split(',').map((kind) => {
  const found = TRACE_KINDS.find((one) => one === kind);
  if (found === undefined) throw new RangeError(`--traces: '${kind}' is none of ${TRACE_KINDS.join(', ')}`);
  return found;
});
if (!loads.every((rate) => rate > 0))
  throw new RangeError('--loads must be queries a second, with commas between');

const files = mkdtempSync(join(tmpdir(), 'windjammer-agreement-'));
try {
  const hostTimes = await hostTimesFrom(values['host-times'], seed, (text) =>
    process.stderr.write(`${text}\n`),
  );
  const subjects = subjectsNamed(values.only.split(','));
  const asked = subjects.flatMap((subject) =>
    kinds.flatMap((kind) => loads.map((rate) => ({ subject, kind, rate }))),
  );
  const turns = pLimit(whole('together'));
  const rows = await Promise.all(asked.map((one) => turns(() => rowOf(one))));
  folder.writeJson('agreement.json', { seed, seconds, hostTimes, rows });
  folder.write('agreement.md', agreementTable(rows));
  folder.write('agreement.svg', agreementFigure(rows, seed));
  process.stdout.write(`\n${agreementTable(rows)}`);

  async function rowOf({ subject, kind, rate }: Asked): Promise<AgreementRow> {
    const own = join(files, `${subject.model}-${kind}-${rate}`);
    mkdirSync(own);
    const trace = traceOf(kind, rate, seconds, seed, own);
    const asked = { subject, trace, seconds, seed };
    const [liveAnswers, virtualAnswers] = [join(own, 'live.jsonl'), join(own, 'virtual.jsonl')];
    const live = await liveRun({ ...asked, answersFile: liveAnswers });
    const virtual = await virtualRun({ ...asked, hostTimes, answersFile: virtualAnswers });
    const outputs = compareOutputs(liveAnswers, virtualAnswers);
    const row = { model: subject.model, kind, rate, live, virtual, outputs };
    process.stdout.write(agreementTable([row]).split('\n').at(-2) + '\n');
    return row;
  }
} finally {
  rmSync(files, { recursive: true });
}

function whole(name: 'seconds' | 'together'): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`--${name} must be a whole number from 1`);
  return value;
}
