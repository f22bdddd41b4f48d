import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PLACE = 'simulator/laboratory/verdicts/corpus';

/**
 * Where the corpus lies: in the checkout that this code is of, which may run from a folder of compiled code inside it, or in the
 * one that the process was started in.
 * @throws RangeError when neither has it.
 */
export function corpusFolder(): string {
  for (const start of [dirname(fileURLToPath(import.meta.url)), process.cwd()]) {
    for (let folder = start; folder !== dirname(folder); folder = dirname(folder))
      if (existsSync(join(folder, PLACE, 'packed'))) return join(folder, PLACE);
  }
  throw new RangeError(`${PLACE}/packed is neither above ${import.meta.url} nor above ${process.cwd()}`);
}
