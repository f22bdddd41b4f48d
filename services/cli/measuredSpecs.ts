import { mkdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { MeasuredLaunch } from '../../simulator/laboratory/calibration/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';
import { OutputFile } from './outputFile.js';

const OPTION = '--specs';

/** Writes each launch as a launch spec into a folder, which is made if there is none. @throws CommandError */
export function writeMeasuredSpecs(folder: string, launches: readonly MeasuredLaunch[]): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new CommandError(`${OPTION}: ${reasonOf(cause)}`, { cause });
  }
  for (const { name, spec, folder: from } of launches) {
    const file = new OutputFile(join(folder, `${name}.json`), OPTION);
    const ptx = relative(resolve(folder), resolve(from, spec.ptx));
    file.write(`${JSON.stringify({ ...spec, ptx }, undefined, 1)}\n`);
    file.close();
  }
}
