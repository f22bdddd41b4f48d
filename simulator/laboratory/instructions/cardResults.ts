import type { VectorForm } from './forms/index.js';
import { digestOf, firstCases, samplesOf } from './measured.js';

/** `card.cu` fills memory with these before each form. */
const UNTOUCHED = 0xeeee_eeee_eeee_eeeen;

/**
 * Results of a card as `results.json` keeps them: by form, the digest of all cases, that of the first ones, and samples.
 * A form that did not run, of which every word is as it was, is left out.
 * @param words what `card.cu` wrote: form after form in their order, case after case, one word a result
 * @param cases of each form
 * @throws RangeError where the words are not those of all these forms
 */
export function storedResults(
  forms: readonly VectorForm[],
  words: BigUint64Array,
  cases: number,
): ReadonlyMap<string, string> {
  const stored = new Map<string, string>();
  let at = 0;
  for (const { name, results } of forms) {
    const own = words.slice(at, at + cases * results.length);
    at += cases * results.length;
    if (own.every((word) => word === UNTOUCHED)) continue;
    const first = own.subarray(0, firstCases * results.length);
    stored.set(name, `${digestOf(own)} ${digestOf(first)} ${samplesOf(own, results.length)}`);
  }
  if (at === words.length) return stored;
  throw new RangeError(`${words.length} words of a card, ${at} of ${forms.length} forms with ${cases} cases`);
}
