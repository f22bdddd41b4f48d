import { describe, expect, it } from 'vitest';
import type { PredictFrame, ResultFrame } from '../../protocol/index.js';
import { packPredict, packResult, unpackPredict, unpackResult } from './frameCodec.js';

const TIMES = { busyHostNs: 1, busySimulatedNs: 2, clockLagNs: 3 };

describe('frames across a thread', () => {
  it('keep a batch, of inputs of any length', () => {
    const whole = Uint8Array.of(1, 2, 3, 4, 5, 6);
    const frame: PredictFrame = {
      kind: 'predict',
      batchId: 7,
      items: [
        { id: 3, bytes: whole.subarray(1, 4), budgetNs: 10 },
        { id: 4, bytes: new Uint8Array(0), budgetNs: Infinity },
        { id: 9, bytes: whole.subarray(5), budgetNs: -1 },
      ],
      traceparent: '00-1-2-01',
    };
    const message = packPredict(1, frame);
    const { buffer } = message.bytes;
    const arrived = unpackPredict(structuredClone(message, { transfer: [buffer as ArrayBuffer] }));
    expect(arrived).toEqual(frame);
    expect(frame.items[0].bytes).toEqual(Uint8Array.of(2, 3, 4));
  });

  it('keep results: scores, none, failures, an empty text', () => {
    const frame: ResultFrame = {
      kind: 'result',
      batchId: 8,
      serviceNs: 1.5,
      results: [
        { id: 1, ok: true, output: '7', scores: Float32Array.of(0.25, 0.75) },
        { id: 2, ok: false, code: 'invalidInput', message: 'wrong' },
        { id: 3, ok: true, output: '' },
        { id: 4, ok: true, output: '1', scores: Float32Array.of(1) },
      ],
    };
    expect(unpackResult(structuredClone(packResult(1, frame, TIMES)))).toEqual(frame);
    const timed = { ...frame, parts: { waitNs: 1, inputNs: 0.25, outputNs: 0.125 } };
    expect(unpackResult(structuredClone(packResult(1, timed, TIMES)))).toEqual(timed);
  });
});
