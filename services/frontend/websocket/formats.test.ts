import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INPUT_TYPES, LAUNCH_CLASSES } from '../../../containers/protocol/index.js';
import { BINARY_MESSAGES, JSON_MESSAGES, readAnswer, type ClientInput } from '../../client/index.js';
import type { Answer, DefaultReason } from '../../prediction/index.js';
import { WIRE_DEFAULT_REASONS } from '../../wire/index.js';
import { BINARY_FORMAT, JSON_FORMAT, type MessageFormat } from './messageFormat.js';
import { FrameWriter } from './frameWriter.js';
import { BinaryMessage, JsonMessage } from './messageReader.js';

const SEED = 20;

/** Texts that have a UTF-8. */
const text = (maxLength: number, minLength = 0) => fc.string({ unit: 'grapheme', minLength, maxLength });
const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/);

const inputs = {
  doubles: fc.float64Array({ noNaN: true, noDefaultInfinity: true, minLength: 1, maxLength: 40 }),
  floats: fc.float32Array({ noNaN: true, noDefaultInfinity: true, minLength: 1, maxLength: 40 }),
  integers: fc.int32Array({ minLength: 1, maxLength: 40 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }),
  strings: text(40, 1),
};

const options = fc.record(
  {
    context: text(128).filter(({ length }) => length <= 128),
    version: name,
    objectiveUs: fc.integer({ min: 1, max: 3_600_000_000 }),
    strict: fc.boolean(),
    priority: fc.integer({ min: 1, max: 5 }),
    launchClass: fc.constantFrom(...LAUNCH_CLASSES),
    features: fc.dictionary(name, fc.double({ noNaN: true, noDefaultInfinity: true }), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  },
  { requiredKeys: [] },
);
const id = fc.integer({ min: 0, max: 2 ** 32 - 1 });

const answer: fc.Arbitrary<Answer> = fc.record({
  queryId: fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/),
  output: fc.oneof(fc.json(), text(40), fc.constantFrom('NaN', '[Infinity,"NaN"]', '')),
  isDefault: fc.constant(false),
  models: fc.array(fc.record({ name, version: name, cached: fc.boolean() }), { maxLength: 6 }),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  cached: fc.boolean(),
  latencyNs: fc.constant(1),
});

/** What a client reads of what a format writes. */
function received(
  format: MessageFormat,
  write: (format: MessageFormat, frames: FrameWriter) => void,
): unknown {
  const frames = new FrameWriter();
  write(format, frames);
  const bytes = frames.take();
  const long = bytes[1] === 126 ? 2 : bytes[1] === 127 ? 8 : 0;
  return readAnswer(bytes.subarray(2 + long), (bytes[0] & 15) === 2);
}

describe('JSON and binary messages', () => {
  for (const type of INPUT_TYPES) {
    it(`say the same of a query of ${type}`, () => {
      fc.assert(
        fc.property(
          id,
          name,
          inputs[type] as fc.Arbitrary<ClientInput>,
          options,
          (id, application, input, rest) => {
            const json = new JsonMessage(
              JSON.parse(String(JSON_MESSAGES.predict(id, application, input, rest))),
            );
            const binary = new BinaryMessage(BINARY_MESSAGES.predict(id, application, input, rest) as Buffer);
            const fromJson = { ...json.predict(), input: undefined };
            const fromBinary = { ...binary.predict(), input: undefined };
            expect(fromBinary).toEqual(fromJson);
            expect([binary.id, binary.kind, binary.application]).toEqual([
              json.id,
              json.kind,
              json.application,
            ]);
            const bytes = [json, binary].map((message) => Buffer.from(message.input({ type }) as Uint8Array));
            expect(normalized(type, bytes[1])).toEqual(normalized(type, bytes[0]));
          },
        ),
        { seed: SEED, numRuns: 200 },
      );
    });
  }

  it('say the same of feedback', () => {
    const feedback = fc.record(
      {
        label: fc.oneof(text(20), fc.double({ noNaN: true, noDefaultInfinity: true })),
        loss: fc.double({ min: 0, max: 1, noNaN: true }),
        idempotencyKey: text(20).filter((key) => key !== ''),
      },
      { requiredKeys: ['label'] },
    );
    const about = fc.oneof(
      fc.record({ queryId: fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/) }),
      fc.record({ input: inputs.doubles }),
    );
    fc.assert(
      fc.property(id, name, feedback, about, (id, application, judged, subject) => {
        const said = { ...judged, ...subject };
        const json = new JsonMessage(JSON.parse(String(JSON_MESSAGES.feedback(id, application, said))));
        const binary = new BinaryMessage(BINARY_MESSAGES.feedback(id, application, said) as Buffer);
        const fromJson = { ...json.feedback(), input: undefined };
        const fromBinary = { ...binary.feedback(), input: undefined };
        expect(fromBinary).toEqual(fromJson);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('say the same of an answer', () => {
    fc.assert(
      fc.property(id, answer, fc.constantFrom(...WIRE_DEFAULT_REASONS), (id, plain, defaultReason) => {
        const one: Answer =
          defaultReason === undefined
            ? plain
            : { ...plain, isDefault: true, defaultReason: defaultReason satisfies DefaultReason };
        const [json, binary] = [JSON_FORMAT, BINARY_FORMAT].map((format) =>
          received(format, (by, frames) => by.prediction(frames, id, one)),
        );
        expect(binary).toEqual(json);
        expect(json).toMatchObject({ id, result: { queryId: one.queryId, isDefault: one.isDefault } });
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('say the same of errors and feedback answers', () => {
    fc.assert(
      fc.property(id, text(60), fc.option(text(20, 1), { nil: undefined }), (id, message, field) => {
        const error = { code: 'wrong_length', message, field } as const;
        const [json, binary] = [JSON_FORMAT, BINARY_FORMAT].map((format) =>
          received(format, (by, frames) => by.error(frames, id, error)),
        );
        expect(binary).toEqual(json);
        const outcome = { accepted: true, joined: 'cache', durable: id % 2 === 0 } as const;
        const [first, second] = [JSON_FORMAT, BINARY_FORMAT].map((format) =>
          received(format, (by, frames) => by.feedback(frames, id, outcome)),
        );
        expect(second).toEqual(first);
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('carries answers of every size behind a right frame head', () => {
    for (const length of [0, 125 - 64, 125, 126, 65_535, 65_536, 300_000]) {
      const frames = new FrameWriter();
      frames.text('x'.repeat(length));
      frames.binary(new Uint8Array(3));
      const bytes = frames.take();
      const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
      expect(bytes.length).toBe(head + length + 5);
      const said =
        head === 2 ? bytes[1] : head === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
      expect(said).toBe(length);
      expect([...bytes.subarray(head + length)]).toEqual([0x82, 3, 0, 0, 0]);
    }
  });
});

/** JSON has no -0, and sends a float32 as the double that it is. */
function normalized(type: string, bytes: Buffer): unknown {
  if (type === 'doubles')
    return Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i) + 0);
  if (type === 'floats')
    return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i) + 0);
  return [...bytes];
}
