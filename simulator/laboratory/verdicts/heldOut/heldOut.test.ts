import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AllocationMap, analyzeKernel } from '../../../idempotency/index.js';
import { validatorInMode } from '../../validatorModes/index.js';
import type { Validation } from '../corpus/index.js';
import { judgePlaced, OracleBench } from '../oracles/index.js';
import { heldOutBodies, heldOutFolder, heldOutModule, HELD_OUT_KERNELS } from './bodies.js';
import { evaluateHeldOut } from './evaluation.js';
import { heldOutInstance, launchesOf } from './instances.js';

const validation: Validation = (ir, entry) => {
  const validator = validatorInMode(analyzeKernel(ir, entry));
  return ({ launch: { module, params, shape } }) => {
    const allocations = new AllocationMap(module.space.segments());
    const launch = { params, shape, symbols: module.symbols, allocations };
    const idempotent = validator.judge(launch);
    const { cause } = validator.explain(launch);
    return { idempotent, ...(cause === undefined ? {} : { cause }) };
  };
};

const bodies = heldOutBodies();
/** A body of every twelfth kernel, and of all that were refused once for what has been learnt from them since. */
const LEARNT = /stridedUnary|stridedCopyDiv|padReflect|bitonicShared|mmaM16N8K16|wmmaGemm|mmaInt8|hwPacked/;
const some = bodies.filter(
  ({ body: { kernel, variant } }) =>
    variant === 'sm90' && (LEARNT.test(kernel.entry) || HELD_OUT_KERNELS.indexOf(kernel) % 12 === 0),
);

describe('held-out kernels', () => {
  it('are as they were when they were labelled', () => {
    const labels = readFileSync(join(heldOutFolder(), 'bodies.json'));
    expect(createHash('sha256').update(labels).digest('hex')).toBe(
      '03db3d85eb0c98e245a09d1eb883252519ad95617bda27841673af351963bb9c',
    );
  });

  it('none is accepted that cannot be repeated, and some are missed', () => {
    const results = evaluateHeldOut(validation, some);
    expect(results.flatMap(({ falsePositives }) => falsePositives)).toEqual([]);
    const [idempotent, missed] = results.reduce(
      ([all, few], each) => [all + each.idempotent, few + each.falseNegatives],
      [0, 0],
    );
    expect(idempotent).toBeGreaterThan(200);
    expect(missed / idempotent).toBeLessThan(0.3);
  });

  it.each(
    some
      .filter(({ body }) => LEARNT.test(body.kernel.entry))
      .map(({ body, labels }) => [body.id, body, labels] as const),
  )('%s: apart it is accepted', (_, body, labels) => {
    const launch = launchesOf(body.kernel)[0];
    expect(labels[0]).toBe('i');
    if (launch === undefined) return;
    const ir = heldOutModule(body);
    const verdictOf = validation(ir, body.kernel.entry);
    new OracleBench().with(heldOutInstance(body.kernel, ir, launch), (placed) => {
      expect(verdictOf(placed).idempotent).toBe(true);
    });
  });

  it.each([
    ['a multiplier for another divisor', { yM: 2_576_980_378 + 5 }, false],
    ['a shift for another divisor', { yS: 2 }, false],
    ['what belongs to the divisor', {}, true],
  ] as const)('divisions prepared at launch count with %s', (_, change, expected) => {
    const body = bodies.find(({ body: { id } }) => id === 'frameworks/stridedUnary sm90')?.body;
    const launch = body && launchesOf(body.kernel)[0];
    if (body === undefined || launch === undefined) throw new Error('no such body');
    const ir = heldOutModule(body);
    const instance = heldOutInstance(body.kernel, ir, { ...launch, sizes: { ...launch.sizes, ...change } });
    const verdictOf = validation(ir, body.kernel.entry);
    new OracleBench().with(instance, (placed) => {
      expect(verdictOf(placed).idempotent).toBe(expected);
    });
  });

  it('have the truth that the oracles tell', () => {
    const bench = new OracleBench();
    for (const { body, labels } of some.slice(0, 4)) {
      const ir = heldOutModule(body);
      for (const launch of launchesOf(body.kernel).filter(({ index }) => index % 5 === 0)) {
        const judgement = bench.with(heldOutInstance(body.kernel, ir, launch), (placed) =>
          judgePlaced(placed, { kills: 4 }),
        );
        const label = judgement.kind === 'fault' ? 'x' : judgement.idempotent ? 'i' : 'n';
        expect(`${body.id} ${launch.index} ${label}`).toBe(
          `${body.id} ${launch.index} ${labels[launch.index] ?? ''}`,
        );
      }
    }
  });
});
