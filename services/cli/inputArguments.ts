import { readFileSync } from 'node:fs';
import { parseJsonText, readTextFile } from '../../simulator/files/index.js';
import { CommandError } from './commandError.js';

/** What `--input` means: JSON, or a string as it stands. */
export function inputValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** JSON in a file, `-` being standard input. @throws CommandError */
export function fileValue(path: string): unknown {
  let text: string;
  try {
    text = path === '-' ? readFileSync(0, 'utf8') : readTextFile(path);
  } catch (cause) {
    throw new CommandError(`cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
  try {
    return parseJsonText(text);
  } catch (cause) {
    throw new CommandError(`${path} is not JSON: ${(cause as Error).message}`, { cause });
  }
}
