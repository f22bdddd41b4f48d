import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LAUNCH_CLASSES } from './index.js';
import { INPUT_TYPES, PRINT_STREAMS, type ContainerFrame, type FrontendFrame } from './frames.js';
import { ProtocolError } from './streamBytes.js';
import { encodeFrame, FrameReader } from './streamCodec.js';

const SEED = 20261128;
type Frame = FrontendFrame | ContainerFrame;

const text = fc.string({ unit: 'grapheme' });
const u32 = fc.nat(0xffff_ffff);
const id = u32;
const time = fc.double({ noNaN: true });
const code = fc.constantFrom(...(['invalidInput', 'modelError', 'kernelFault', 'cancelled'] as const));
const frame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({
    kind: fc.constant('hello' as const),
    protocolVersion: u32,
    model: text,
    version: text,
    replica: text,
    inputType: fc.constantFrom(...INPUT_TYPES),
    maxBatchSize: u32,
    credits: u32,
  }),
  fc.record({
    kind: fc.constant('predict' as const),
    batchId: fc.maxSafeNat(),
    items: fc.array(fc.record({ id, bytes: fc.uint8Array(), budgetNs: fc.double({ noNaN: true }) })),
    traceparent: text,
  }),
  fc.record({
    kind: fc.constant('predict' as const),
    batchId: fc.maxSafeNat(),
    items: fc.array(fc.record({ id, bytes: fc.uint8Array(), budgetNs: fc.constant(1) })),
    isSuspect: fc.constant(true),
    launchClass: fc.constantFrom(...LAUNCH_CLASSES),
  }),
  fc.record({ kind: fc.constant('cancel' as const), batchId: fc.maxSafeNat(), itemIds: fc.array(id) }),
  fc.record(
    {
      kind: fc.constant('result' as const),
      batchId: fc.maxSafeNat(),
      serviceNs: time,
      parts: fc.record({ waitNs: time, inputNs: time, outputNs: time }),
      results: fc.array(
        fc.oneof(
          fc.record({ id, ok: fc.constant(true as const), output: text }),
          fc.record({ id, ok: fc.constant(true as const), output: text, scores: fc.float32Array() }),
          fc.record({ id, ok: fc.constant(false as const), code, message: text }),
        ),
      ),
    },
    { requiredKeys: ['kind', 'batchId', 'serviceNs', 'results'] },
  ),
  fc.record({ kind: fc.constant('credit' as const), credits: u32 }),
  fc.record(
    { kind: fc.constant('printed' as const), text, stream: fc.constantFrom(...PRINT_STREAMS) },
    { requiredKeys: ['kind', 'text'] },
  ),
  fc.record({ kind: fc.constant('down' as const), reason: text }),
);

function read(pieces: readonly Uint8Array[]): Frame[] {
  const frames: Frame[] = [];
  const reader = new FrameReader((one) => frames.push(one));
  for (const piece of pieces) reader.push(piece);
  return frames;
}

describe('frames on a socket', () => {
  it('arrive as they were sent, however they are cut', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 4 }), fc.integer({ min: 1, max: 50 }), (frames, cut) => {
        const bytes = Buffer.concat(frames.map(encodeFrame));
        const pieces: Uint8Array[] = [];
        for (let at = 0; at < bytes.length; at += cut) pieces.push(bytes.subarray(at, at + cut));
        // Buffers compare by content once they are plain arrays.
        expect(plain(read(pieces))).toEqual(plain(frames));
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('are refused with a ProtocolError, or read, when bytes are changed or missing', () => {
    fc.assert(
      fc.property(
        frame,
        fc.nat(),
        fc.integer({ min: 0, max: 255 }),
        fc.boolean(),
        (one, where, value, cut) => {
          const bytes = Uint8Array.from(encodeFrame(one));
          const at = where % bytes.length;
          const damaged = cut
            ? Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)])
            : bytes;
          if (!cut) damaged[at] = value;
          expectReadOrRefused(damaged);
        },
      ),
      { seed: SEED, numRuns: 1000 },
    );
  });

  it('are never read from random bytes with another failure than a ProtocolError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.integer({ min: 0, max: 7 }), (body, kind) => {
        const head = Buffer.alloc(6);
        head.writeUInt32LE(body.length + 2);
        head[4] = 1;
        head[5] = kind;
        expectReadOrRefused(Buffer.concat([head, body]));
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });

  it.each<[string, number[], string]>([
    ['a length of 0', [0, 0, 0, 0, 1, 0], 'a frame of 0 bytes'],
    ['a length of 4 GiB', [255, 255, 255, 255, 1, 0], 'a frame of 4294967295 bytes'],
    ['another version', [2, 0, 0, 0, 2, 0], 'a frame of protocol version 2; this side speaks version 1'],
    ['an unknown kind', [2, 0, 0, 0, 1, 7], 'a frame of kind 7'],
    ['a frame that is too short', [2, 0, 0, 0, 1, 4], 'ends inside a field'],
    ['a frame that is too long', [7, 0, 0, 0, 1, 4, 1, 0, 0, 0, 9], '1 bytes too many'],
    [
      'a list without end',
      [18, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0],
      'a list of',
    ],
    ['no UTF-8', [7, 0, 0, 0, 1, 6, 1, 0, 0, 0, 255], 'not UTF-8'],
    ['HTTP', [...Buffer.from('GET / HTTP/1.1')], 'a frame of 542393671 bytes'],
  ])('refuses %s', (_what, bytes, message) => {
    expect(() => read([Uint8Array.from(bytes)])).toThrow(message);
  });
});

function expectReadOrRefused(bytes: Uint8Array): void {
  try {
    read([bytes]);
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError);
  }
}

function plain(frames: readonly Frame[]): unknown {
  return JSON.parse(
    JSON.stringify(frames, (_key, value: unknown) => {
      // -0 and infinities are doubles of the frame, too.
      if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
      if (Buffer.isBuffer(value) || value instanceof Uint8Array || value instanceof Float32Array) {
        return Array.from(value, String);
      }
      if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer') {
        return Array.from((value as unknown as { data: number[] }).data, String);
      }
      return value;
    }),
  );
}
