import fc from 'fast-check';
import { FRAME_KINDS, frameShape, type FieldShape, type Frame } from '../frameFields.js';
import type { ContainerFrame, FrontendFrame } from '../frames.js';

const text = fc.string({ unit: 'grapheme' });
const u32 = fc.nat(0xffff_ffff);
const f64 = fc.double({ noNaN: true });
const code = fc.constantFrom(
  ...(['invalidInput', 'modelError', 'kernelFault', 'cancelled', 'undecided'] as const),
);

/** Every shape has its values: one that is new does not compile until it stands here. */
const LEAVES: Readonly<Record<Extract<FieldShape, string>, fc.Arbitrary<unknown>>> = {
  u32,
  f64,
  text,
  flag: fc.constantFrom(undefined, true),
  item: fc.record({ id: u32, bytes: fc.uint8Array(), budgetNs: f64 }),
  parts: fc.record({ waitNs: f64, inputNs: f64, outputNs: f64 }),
  result: fc.oneof(
    fc.record(
      { id: u32, ok: fc.constant(true), output: text, scores: fc.float32Array({ noNaN: true }) },
      { requiredKeys: ['id', 'ok', 'output'] },
    ),
    fc.record({ id: u32, ok: fc.constant(false), code, message: text }),
  ),
  golden: fc.oneof(
    fc.record({ problem: text }),
    fc.record({
      tolerance: f64,
      cases: fc.array(
        fc.record({ input: fc.array(f64), label: text, scores: fc.array(f64) }, { requiredKeys: ['input'] }),
      ),
    }),
  ),
};

function valueOf(shape: FieldShape): fc.Arbitrary<unknown> {
  if (typeof shape === 'string') return LEAVES[shape];
  if ('choices' in shape) return fc.constantFrom(...shape.choices);
  if ('optional' in shape) return fc.option(valueOf(shape.optional), { nil: undefined });
  return fc.array(valueOf(shape.list), { maxLength: 6 });
}

/** Frames of a kind with every field that the protocol's version has; fields that are absent are no properties. */
export function frameOf<K extends Frame['kind']>(
  kind: K,
  version?: number,
): fc.Arbitrary<Extract<Frame, { readonly kind: K }>> {
  const fields = Object.fromEntries(
    frameShape(kind, version).map(([name, shape]) => [
      name,
      name === 'batchId' ? fc.maxSafeNat() : valueOf(shape),
    ]),
  );
  return fc.record(fields).map((values) => ({
    kind,
    ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
  })) as unknown as fc.Arbitrary<Extract<Frame, { readonly kind: K }>>;
}

export const anyFrame: fc.Arbitrary<FrontendFrame | ContainerFrame> = fc.oneof(
  ...FRAME_KINDS.map((kind) => frameOf(kind)),
);

/** Frames by what they say: bytes are bytes whoever holds them, and every number tells itself from every other. */
export function comparable(frames: readonly Frame[]): unknown {
  return JSON.parse(
    JSON.stringify(frames, (_key, value: unknown) => {
      // -0 and infinities are doubles of a frame, too.
      if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
      if (value instanceof Uint8Array || value instanceof Float32Array) return Array.from(value, String);
      // Buffers are told as objects before they come here.
      if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer') {
        return Array.from((value as unknown as { data: number[] }).data, String);
      }
      return value;
    }),
  );
}
