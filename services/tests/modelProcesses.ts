import { readdirSync, readFileSync } from 'node:fs';

/** Ids of the processes whose command line has all of these words, from /proc. */
export function pidsOf(...words: readonly string[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return words.every((word) => command.includes(word));
      } catch {
        // It has ended meanwhile.
        return false;
      }
    })
    .map(Number);
}
