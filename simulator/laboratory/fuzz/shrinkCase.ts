import type { FuzzCase } from './fuzzCase.js';

/**
 * A smaller kernel that still fails: lines are left out, many at once and then fewer, as long as `fails` holds. A text that
 * is no PTX any more, or reads registers that hold nothing, is for `fails` to turn down.
 *
 * @param fails whether a case shows the failure that is looked for; false, too, when it cannot be loaded
 */
export function shrinkCase(fuzz: FuzzCase, fails: (smaller: FuzzCase) => boolean): FuzzCase {
  let lines = fuzz.text.split('\n');
  const first = lines.findIndex((line) => line === '{') + 1;
  for (let size = Math.ceil((lines.length - first) / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = lines.length - size; at >= first; at -= size) {
      const candidate = [...lines.slice(0, at), ...lines.slice(at + size)];
      if (fails({ ...fuzz, text: candidate.join('\n') })) lines = candidate;
    }
  }
  return { ...fuzz, text: lines.join('\n') };
}
