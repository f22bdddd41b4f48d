import { describe, expect, it } from 'vitest';
import { CodeBuffer } from './codeBuffer.js';

/** Signed LEB128 as the WebAssembly specification has it. */
function signedBytes(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = value; ;) {
    const part = Number(rest & 0x7fn);
    rest >>= 7n;
    if (rest === (part < 64 ? 0n : -1n)) return [...bytes, part];
    bytes.push(part | 0x80);
  }
}

function written(write: (buffer: CodeBuffer) => void): number[] {
  const buffer = new CodeBuffer();
  write(buffer);
  return [...buffer.bytes()];
}

describe('CodeBuffer', () => {
  it('writes signed numbers of 64 bits in as few bytes as they need', () => {
    const powers = Array.from({ length: 64 }, (_, bit) => 1n << BigInt(bit));
    for (const value of powers.flatMap((power) => [power - 1n, power, -power, ~power])) {
      const wrapped = BigInt.asIntN(64, value);
      const [low, high] = [Number(BigInt.asIntN(32, wrapped)), Number(wrapped >> 32n)];
      expect(written((buffer) => buffer.signed64(low, high))).toEqual(signedBytes(wrapped));
      expect(written((buffer) => buffer.signed64(low >>> 0, high >>> 0))).toEqual(signedBytes(wrapped));
    }
  });

  it('writes a byte and a number as one after the other, and grows for them', () => {
    const both = written((buffer) => {
      for (let operand = 0; operand < 2000; operand++) buffer.byteAndUnsigned(0x20, operand);
    });
    const apart = written((buffer) => {
      for (let operand = 0; operand < 2000; operand++) {
        buffer.byte(0x20);
        buffer.unsigned(operand);
      }
    });
    expect(both).toEqual(apart);
  });
});
