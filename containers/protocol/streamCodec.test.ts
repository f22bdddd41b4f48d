import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_VERSION, type ContainerFrame, type FrontendFrame } from './frames.js';
import { ProtocolError } from './streamBytes.js';
import { encodeFrame, FrameReader } from './streamCodec.js';
import { anyFrame, comparable, frameOf } from './tests/arbitraryFrames.js';

const SEED = 20261128;
type Frame = FrontendFrame | ContainerFrame;

function read(pieces: readonly Uint8Array[], version = PROTOCOL_VERSION): Frame[] {
  const frames: Frame[] = [];
  const reader = new FrameReader((one) => frames.push(one), version);
  for (const piece of pieces) reader.push(piece);
  return frames;
}

describe('frames on a socket', () => {
  it('arrive as they were sent, however they are cut', () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 4 }), fc.integer({ min: 1, max: 50 }), (frames, cut) => {
        const bytes = Buffer.concat(frames.map((one) => encodeFrame(one)));
        const pieces: Uint8Array[] = [];
        for (let at = 0; at < bytes.length; at += cut) pieces.push(bytes.subarray(at, at + cut));
        // Buffers compare by content once they are plain arrays.
        expect(comparable(read(pieces))).toEqual(comparable(frames.map(spoken)));
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('go to a peer of the version before without what it does not know', () => {
    fc.assert(
      fc.property(frameOf('hello'), (hello) => {
        const [arrived] = read([encodeFrame(hello, 1)], 1);
        const known = Object.entries(hello).filter(([name]) => name !== 'golden');
        const expected = { ...Object.fromEntries(known), protocolVersion: 1 } as unknown as Frame;
        expect(comparable([arrived])).toEqual(comparable([expected]));
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('are refused with a ProtocolError, or read, when bytes are changed or missing', () => {
    fc.assert(
      fc.property(
        anyFrame,
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
        head[4] = PROTOCOL_VERSION;
        head[5] = kind;
        expectReadOrRefused(Buffer.concat([head, body]));
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });

  it.each<[string, number[], string]>([
    ['a length of 0', [0, 0, 0, 0, 2, 0], 'a frame of 0 bytes'],
    ['a length of 4 GiB', [255, 255, 255, 255, 2, 0], 'a frame of 4294967295 bytes'],
    ['another version', [2, 0, 0, 0, 1, 0], 'a frame of protocol version 1; this side speaks version 2'],
    ['an unknown kind', [2, 0, 0, 0, 2, 7], 'a frame of kind 7'],
    ['a frame that is too short', [2, 0, 0, 0, 2, 4], 'ends inside a field'],
    ['a frame that is too long', [7, 0, 0, 0, 2, 4, 1, 0, 0, 0, 9], '1 bytes too many'],
    [
      'a list without end',
      [18, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0],
      'a list of',
    ],
    ['no UTF-8', [7, 0, 0, 0, 2, 6, 1, 0, 0, 0, 255], 'not UTF-8'],
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

/** Who speaks says what it speaks. */
function spoken(frame: Frame): Frame {
  return frame.kind === 'hello' ? { ...frame, protocolVersion: PROTOCOL_VERSION } : frame;
}
