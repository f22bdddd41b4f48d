import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import {
  inputLength,
  type GoldenSet,
  sampleTexts,
  type KernelModel,
  type ManifestInput,
} from '../../models/index.js';

const SEED = 1;
const DRAWN_INPUTS = 16;

/** Little-endian bytes of one input, as containers take them. */
export function inputBytes(type: ManifestInput['type'], values: readonly number[]): Uint8Array {
  switch (type) {
    case 'bytes':
    case 'strings':
      return Uint8Array.from(values);
    case 'integers':
      return new Uint8Array(Int32Array.from(values).buffer);
    case 'floats':
      return new Uint8Array(Float32Array.from(values).buffer);
    case 'doubles':
      return new Uint8Array(Float64Array.from(values).buffer);
  }
}

/** Inputs to measure with: the golden ones, or seeded draws from the range that the manifest allows, or made-up texts. */
export function measuringInputs(
  { manifest, encoding }: Pick<KernelModel, 'manifest' | 'encoding'>,
  golden: GoldenSet | undefined,
): Uint8Array[] {
  const { type, minimum = 0, maximum = type === 'bytes' ? 255 : Math.max(1, minimum) } = manifest.inputs[0];
  if (golden !== undefined) return golden.cases.map(({ input }) => inputBytes(type, input));
  if (encoding !== undefined) {
    const utf8 = new TextEncoder();
    return sampleTexts(encoding, manifest.inputs[0].encoding?.columns, DRAWN_INPUTS).map((text) =>
      utf8.encode(text),
    );
  }
  const length = inputLength(manifest);
  const generator = xoroshiro128plus(SEED);
  return Array.from({ length: DRAWN_INPUTS }, () =>
    inputBytes(
      type,
      Array.from({ length }, () => minimum + uniformFloat64(generator) * (maximum - minimum)),
    ),
  );
}
