import type { EncodingPart, InputEncoding, Scalar } from './encodingSchema.js';

/** Words of a text that is made up. */
const WORDS = 16;

/** Made-up queries that an encoding takes, for measuring: each with other categories and words. */
export function sampleTexts(
  { parts }: InputEncoding,
  columns: readonly string[] | undefined,
  count: number,
): string[] {
  return Array.from({ length: count }, (_, sample) => {
    const of = (column: number): Scalar => {
      const part = parts.find((one) => one.column === column);
      return part === undefined ? null : valueOf(part, sample);
    };
    return columns === undefined ? String(of(0)) : JSON.stringify(columns.map((_name, column) => of(column)));
  });
}

function valueOf(part: EncodingPart, sample: number): Scalar {
  switch (part.kind) {
    case 'number':
      return sample;
    case 'category':
      return part.categories[sample % part.categories.length];
    case 'terms': {
      const { space, longest } = part;
      const known =
        'vocabulary' in space ? space.vocabulary : ['words', 'of', 'a', 'text', 'to', 'measure', 'with'];
      const words = Array.from({ length: WORDS }, (_, k) => known[(sample * WORDS + k) % known.length]);
      return words.join(' ').slice(0, longest);
    }
  }
}
