import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';

/** What the server takes, in whatever characters; it says more exactly. */
const MOST_FILE_BYTES = 3 * 262_144;

export interface ReadPolicyFile {
  readonly name: string;
  readonly content: string;
  /** SHA-256 of the content. */
  readonly content_hash: string;
}

/** A policy file of this machine. @throws CommandError */
export function readPolicyFile(path: string): ReadPolicyFile {
  try {
    // Others may never end.
    const file = statSync(path);
    if (!file.isFile()) throw new Error('it is no file');
    if (file.size > MOST_FILE_BYTES)
      throw new Error(`it has ${file.size} bytes, and a policy file has 262144 characters at most`);
    const content = readFileSync(path, 'utf8');
    return {
      name: basename(path),
      content,
      content_hash: createHash('sha256').update(content).digest('hex'),
    };
  } catch (cause) {
    throw new CommandError(`cannot read the policy file ${path}: ${reasonOf(cause)}`, { cause });
  }
}
