import { readPemFile, readTextFile, START_FILE } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';

/** The text of the file that an option names, without a byte order mark. @throws CommandError naming both */
export function optionText(option: string, path: string): string {
  return read(option, path, () => readTextFile(path, START_FILE));
}

/** The certificates or keys in the file that an option names. @throws CommandError naming both */
export function optionPem(option: string, path: string): string {
  return read(option, path, () => readPemFile(path));
}

function read(option: string, path: string, reading: () => string): string {
  if (path === '') {
    throw new CommandError(`${option} is empty: name a file, or unset the variable that it comes from`);
  }
  try {
    return reading();
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new CommandError(`${option}: ${reason.includes(path) ? reason : `${path}: ${reason}`}`, { cause });
  }
}
