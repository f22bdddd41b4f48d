import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INPUT_TYPES } from '../../containers/protocol/index.js';
import { ServiceError } from '../errors/index.js';
import { encodeInput } from './inputs.js';
import { readPredictRequest, readUpdateRequest } from './requests.js';
import { inputSchemas, predictRequestSchema, updateRequestSchema } from './schemas.js';

/** Fixed, so that a failure repeats; fast-check prints it with the counterexample. */
const RUNS = { seed: 20_171, numRuns: 3000 } as const;

const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(
    0,
    -0,
    1e39,
    -1e39,
    3.4028234663852886e38,
    2 ** 31,
    -(2 ** 31),
    2 ** 31 - 1,
    2 ** 53,
    Infinity,
  ),
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.base64String(),
  fc.constantFrom('', '=', 'YQ==', 'YQ=', 'YQ', 'Y===', '\ud800', 'x'.repeat(129), 'x'.repeat(65)),
);
const scalar = fc.oneof(number, text, fc.boolean(), fc.constant(null));
/** Bytes of numbers that are finite, or not, and of any number of bytes. */
const bytes = fc.oneof(
  fc.float64Array({ minLength: 1, maxLength: 3 }).map(({ buffer }) => new Uint8Array(buffer)),
  fc.float32Array({ minLength: 1, maxLength: 3 }).map(({ buffer }) => new Uint8Array(buffer)),
  fc.uint8Array({ maxLength: 17 }),
);
const typed = fc.record({
  b64: fc.oneof(
    bytes.map((one) => Buffer.from(one).toString('base64')),
    scalar,
  ),
});
const value = fc.oneof(scalar, fc.array(number), fc.array(scalar), fc.object(), typed);

describe('the hand-written checks and the schemas agree', () => {
  it.each(INPUT_TYPES.map((type) => [type]))('on inputs of type %s', (type) => {
    fc.assert(
      fc.property(value, (input) => {
        const accepted = !(encodeInput({ type }, input, 'input') instanceof ServiceError);
        expect(accepted).toBe(inputSchemas[type].safeParse(input).success);
      }),
      RUNS,
    );
  });

  const optional = (arbitrary: fc.Arbitrary<unknown>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
  const key = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('u', 7, '') },
    { weight: 1, arbitrary: scalar },
  );
  const features = fc.dictionary(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom('a', 'b.c', '0') }, { weight: 1, arbitrary: text }),
    fc.oneof({ weight: 9, arbitrary: fc.double({ noNaN: true }) }, { weight: 1, arbitrary: scalar }),
    { maxKeys: 3, noNullPrototype: true },
  );
  const seldom = (arbitrary: fc.Arbitrary<unknown>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
  const goodInput = fc.constantFrom<unknown>([1], 'text', { b64: 'AAAA' });

  it('on requests for predictions', () => {
    const bodies = fc.record({
      input: optional(goodInput),
      input_batch: optional(fc.oneof(fc.array(goodInput), scalar)),
      version: optional(fc.oneof(fc.constant('1'), scalar)),
      uid: optional(key),
      context: optional(key),
      latency_slo_micros: optional(fc.oneof(fc.integer({ min: -2, max: 5e9 }), scalar)),
      strict: optional(fc.oneof(fc.boolean(), scalar)),
      priority: optional(fc.oneof(fc.integer({ min: 0, max: 6 }), scalar)),
      launch_class: optional(
        fc.oneof(fc.constantFrom('critical', 'standard', 'bestEffort', 'urgent'), scalar),
      ),
      votes: optional(fc.oneof({ weight: 3, arbitrary: fc.boolean() }, { weight: 1, arbitrary: scalar })),
      features: fc.oneof(
        { weight: 6, arbitrary: fc.constant(undefined) },
        { weight: 3, arbitrary: features },
        { weight: 1, arbitrary: fc.array(fc.oneof(features, scalar), { maxLength: 3 }) },
        { weight: 1, arbitrary: scalar },
      ),
    });
    const schema = predictRequestSchema();
    let accepted = 0;
    fc.assert(
      fc.property(bodies, (body) => {
        const ours = accepts(() => readPredictRequest(body));
        if (ours) accepted += 1;
        expect(ours).toBe(schema.safeParse(body).success);
      }),
      { ...RUNS, numRuns: 2 * RUNS.numRuns },
    );
    // Both answers must have been asked for.
    expect(accepted).toBeGreaterThan(100);
    expect(accepted).toBeLessThan(5900);
  });

  it('on feedback', () => {
    const bodies = fc.record({
      query_id: optional(key),
      input: optional(goodInput),
      label: optional(fc.oneof(fc.constantFrom('7', 7), scalar)),
      loss: optional(fc.oneof(fc.double({ min: -0.5, max: 1.5, noNaN: true }), scalar)),
      reward: seldom(fc.oneof(fc.double({ min: -0.5, max: 1.5, noNaN: true }), scalar)),
      losses: seldom(
        fc.oneof(fc.dictionary(fc.constantFrom('m', 'n', ''), fc.double({ min: 0, max: 1.1 })), scalar),
      ),
      features: optional(features),
      uid: optional(key),
      context: optional(key),
    });
    let accepted = 0;
    fc.assert(
      fc.property(bodies, (body) => {
        const ours = accepts(() => readUpdateRequest(body));
        if (ours) accepted += 1;
        expect(ours).toBe(updateRequestSchema.safeParse(body).success);
      }),
      RUNS,
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it('on bodies that are no object', () => {
    for (const body of [null, [], 3, 'x', true]) {
      expect(accepts(() => readPredictRequest(body))).toBe(false);
      expect(predictRequestSchema().safeParse(body).success).toBe(false);
    }
  });
});

function accepts(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return false;
  }
}
