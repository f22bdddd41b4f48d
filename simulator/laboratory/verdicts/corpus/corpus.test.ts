import { describe, expect, it } from 'vitest';
import { lowerModule } from '../../../ptx/index.js';
import { judgeInstance, OracleBench, OracleRandom } from '../oracles/index.js';
import { evaluate as evaluateExpression } from './expression.js';
import {
  APPLICATIONS,
  bodyModule,
  corpusBodies,
  corpusDigest,
  corpusInstance,
  evaluate,
  evaluationTable,
  FAMILIES,
  frozenLabels,
  instanceDigest,
  kernelNeeds,
  KERNELS,
  labelBody,
  labelledBodies,
  labelOf,
  PLANS,
  runApplication,
  type Validation,
} from './index.js';
import { placeBuffers } from './placement.js';

/** Of bodies, launches and labels: whoever changes any of them makes another corpus, and every figure measured anew. */
const DIGEST = '58f620f11e14de3fa8cdd78a677022831025ca69481e66893e91226e7893e9f6';

const bench = new OracleBench();

/** Every n-th body. */
function sample(step: number, from = 0) {
  return labelledBodies().filter((_, index) => index % step === from);
}

describe('the corpus', () => {
  it('is the one whose truth was frozen', () => {
    expect(corpusDigest(frozenLabels())).toBe(DIGEST);
    for (const { body, truth } of sample(110, 5)) {
      expect(labelBody(bench, body, { kills: 3 }), body.id).toEqual(truth);
    }
  });

  it('is shaped like the one of the paper', () => {
    const truth = frozenLabels();
    expect(KERNELS.filter(({ family }) => family !== 'tvm').length).toBeGreaterThanOrEqual(60);
    expect(KERNELS.filter(({ family }) => family === 'tvm').length).toBeGreaterThanOrEqual(40);
    expect(new Set(KERNELS.map(({ family }) => family)).size).toBe(FAMILIES.length);
    expect(new Set(KERNELS.map(({ entry }) => entry)).size).toBe(KERNELS.length);
    expect(truth.length).toBeGreaterThanOrEqual(500);
    const labels = truth.map((each) => each.labels).join('');
    expect(labels.length).toBeGreaterThanOrEqual(18_000);
    expect(labels).toMatch(/^[in]+$/);
    const share = (labels.match(/i/g)?.length ?? 0) / labels.length;
    expect(share).toBeGreaterThan(0.74);
    expect(share).toBeLessThan(0.84);
    const conditional = truth.filter(({ kernel }) => kernel === 'conditional').length / truth.length;
    expect(conditional).toBeGreaterThan(0.8);
  });

  it('holds idempotent launches that no look at the arguments alone can tell, as many as the paper has', () => {
    const counts = { loop: 0, address: 0, all: 0 };
    for (const { body, truth } of labelledBodies()) {
      const { functions } = lowerModule(bodyModule(body));
      const kernel = functions.find(({ isEntry, name }) => isEntry && name === body.manifest.entry);
      if (kernel === undefined) throw new Error(body.id);
      const idempotent = truth.labels.match(/i/g)?.length ?? 0;
      const needs = kernelNeeds(kernel);
      counts.all += idempotent;
      if (needs.loop) counts.loop += idempotent;
      else if (needs.address) counts.address += idempotent;
    }
    expect(counts.address / counts.all).toBeGreaterThan(0.1);
    expect(counts.address / counts.all).toBeLessThan(0.14);
    expect(counts.loop / counts.all).toBeGreaterThan(0.026);
    expect(counts.loop / counts.all).toBeLessThan(0.046);
  });

  it('draws the same launch at every call, and others for other indices', () => {
    const [body] = corpusBodies();
    if (body === undefined) throw new Error('no body');
    const digests = [0, 0, 1].map((index) => instanceDigest(corpusInstance(body, index)));
    expect(digests[0]).toBe(digests[1]);
    expect(digests[0]).not.toBe(digests[2]);
  });

  it('has every way in which buffers lie to one another in every family', () => {
    const seen = new Map<string, Set<string>>();
    for (const { body } of sample(3)) {
      const { family } = body.manifest;
      const plans = seen.get(family) ?? new Set<string>();
      seen.set(family, plans);
      for (let index = 0; index < 12; index++) plans.add(corpusInstance(body, index).plan);
    }
    for (const family of FAMILIES)
      expect([...(seen.get(family) ?? [])].sort(), family).toEqual([...PLANS].sort());
  });
});

describe('applications', () => {
  it.each(APPLICATIONS.map((each) => [each.name, each] as const))(
    '%s launches one kernel so that it is idempotent and so that it is not',
    (_, application) => {
      const labels: string[] = [];
      runApplication(bench, application, (instance) => {
        const judgement = judgeInstance(bench, instance, { kills: 8 });
        if (instance.entry === application.watched) labels.push(labelOf(judgement));
      });
      expect(new Set(labels)).toEqual(new Set(['i', 'n']));
    },
  );
});

describe('an evaluation', () => {
  const never: Validation = () => () => ({ idempotent: false, cause: 'PE' });
  /** Compares the addresses of pointers, and nothing that lies between them. */
  const basesDiffer: Validation = () => (placed) => {
    const { kernel, params } = placed.launch;
    const view = new DataView(params.buffer, params.byteOffset, params.byteLength);
    const pointers = kernel.parameters
      .filter(({ bytes }) => bytes === 8)
      .map(({ offset }) => view.getBigUint64(offset, true))
      .filter((value) => value > 2n ** 46n);
    return {
      idempotent: new Set(pointers).size === pointers.length,
      cause: 'RO',
      intervals: { predictedIntervals: () => [{ lo: 2 ** 46, hi: 2 ** 46 + 4096 }] },
    };
  };

  it('counts what a validator that refuses everything misses, by cause, and finds nothing against it', () => {
    const bodies = sample(20);
    const evaluation = evaluate(never, bodies);
    const labels = bodies.map(({ truth }) => truth.labels).join('');
    const idempotent = labels.match(/i/g)?.length ?? 0;
    const sum = (of: (family: (typeof evaluation.families)[number]) => number) =>
      evaluation.families.reduce((total, family) => total + of(family), 0);
    expect(evaluation).toMatchObject({ contradictions: [], instances: labels.length, kills: 0 });
    expect(evaluation.aliased).toBeGreaterThan(labels.length / 4);
    expect(sum(({ falseNegatives }) => falseNegatives)).toBe(idempotent);
    expect(sum(({ causes }) => causes['PE'] ?? 0)).toBe(idempotent);
    const table = evaluationTable(evaluation).split('\n');
    expect(table[0]).toBe(
      '| family | bodies idem / non / cond | truth idem / non | verdict idem / non | FN (%) | FP | PE |',
    );
    expect(table.at(-1)).toContain(`| ${idempotent} (100.00) | 0 | ${idempotent} |`);
  });

  it('contradicts a careless validator by every oracle', () => {
    const { contradictions, kills } = evaluate(basesDiffer, sample(60, 3), { kills: 4, most: 12 });
    expect(new Set(contradictions.map(({ oracle }) => oracle))).toEqual(new Set(['label', 'trace', 'cover']));
    expect(kills).toBeGreaterThan(0);
    // A counter in shared memory: no read is clobbered, and yet a kill shows.
    const racing = labelledBodies().filter(({ body }) => body.manifest.entry === 'firstComes');
    const always: Validation = () => () => ({ idempotent: true });
    const found = evaluate(always, racing, { kills: 8, stopEarly: true });
    expect(found.contradictions.map(({ oracle }) => oracle)).toEqual(['label', 'kill']);
  });
});

describe('expressions of manifests', () => {
  it.each([
    ['n', 7],
    [3, 3],
    ['n*m+1', 22],
    ['n/m+m', 6],
    ['n*m/2-1', 10],
    ['0-n', -7],
  ])('%s', (expression, wanted) => {
    expect(evaluateExpression(expression, { n: 7, m: 3 })).toBe(wanted);
  });

  it('say which name they do not know', () => {
    expect(() => evaluateExpression('n*k', { n: 1 })).toThrow("'n*k' names k, which is no size");
  });
});

describe('placement', () => {
  const buffer = (bytes: number, isWritten: boolean, isApart = false) => ({
    bytes,
    align: 4,
    isWritten,
    isApart,
  });

  it('keeps each plan', () => {
    for (let seed = 1; seed < 40; seed++) {
      for (const plan of PLANS) {
        const buffers = [buffer(400, true), buffer(200, false), buffer(100, false, true)];
        const { places, allocations } = placeBuffers(buffers, plan, new OracleRandom(seed));
        const [out, input, apart] = places;
        if (out === undefined || input === undefined || apart === undefined) throw new Error('not placed');
        expect(places.every(({ offset }) => offset % 4 === 0)).toBe(true);
        expect(allocations).toHaveLength(plan === 'distinct' ? 3 : 2);
        expect([out.allocation, input.allocation]).not.toContain(apart.allocation);
        buffers.forEach(({ bytes }, index) => {
          const { allocation, offset } = places[index] ?? apart;
          expect(offset + bytes).toBeLessThanOrEqual(allocations[allocation] ?? 0);
        });
        if (plan === 'distinct') continue;
        const gap = Math.max(out.offset, input.offset) - Math.min(out.offset + 400, input.offset + 200);
        if (plan === 'pooled') expect(gap).toBeGreaterThanOrEqual(0);
        if (plan === 'adjacent') expect(Math.max(out.offset - 200, input.offset - 400)).toBe(0);
        if (plan === 'halves') expect(Math.max(out.offset, input.offset)).toBe(400);
        if (plan === 'equal') expect(out.offset).toBe(input.offset);
        if (plan === 'overlapping' || plan === 'interior')
          expect(overlap(out.offset, input.offset)).toBe(true);
      }
    }
  });

  it('gives a lonely buffer an allocation of its own', () => {
    expect(placeBuffers([buffer(8, true)], 'equal', new OracleRandom(1)).plan).toBe('distinct');
  });
});

function overlap(out: number, input: number): boolean {
  return out < input + 200 && input < out + 400;
}
