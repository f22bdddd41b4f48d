import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';

export type { Histogram };

/**
 * A histogram of whole numbers from 0 up, whatever their size: its memory grows with their range and not with their count.
 * @param digits that quantiles are exact to; two cost a seventh of the memory of three
 */
export function wholeNumberHistogram(digits: 2 | 3 = 3): Histogram {
  return build({ numberOfSignificantValueDigits: digits, useWebAssembly: false });
}

/** A histogram as text, in HdrHistogram's own form. */
export function histogramText(histogram: Histogram): string {
  return encodeIntoCompressedBase64(histogram);
}

/** @throws Error when the text is none of a histogram */
export function histogramOf(text: string): Histogram {
  return decodeFromCompressedBase64(text, 32, false);
}
