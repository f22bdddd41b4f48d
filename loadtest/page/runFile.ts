import { basename } from 'node:path';
import { CommandError } from '../../services/cli/index.js';
import { readTextFile } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { readResult } from '../result/index.js';
import type { NamedRun } from './comparison.js';

/** What `replay` or `loadtest` has printed. @param what the argument or option that names it. @throws CommandError */
export function readRunFile(path: string, what: string): NamedRun {
  try {
    return { name: basename(path).replace(/\.json$/, ''), result: readResult(readTextFile(path)) };
  } catch (cause) {
    throw new CommandError(
      `${what}: ${path}: ${reasonOf(cause)}; give what replay or loadtest printed, as in: windjammer loadtest … > ${basename(path)}`,
      { cause },
    );
  }
}
