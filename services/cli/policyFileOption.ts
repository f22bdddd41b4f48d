import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';

/** Of a character in UTF-8, as they are counted here. */
const MOST_CHARACTER_BYTES = 3;

export interface ReadPolicyFile {
  readonly name: string;
  readonly content: string;
  /** SHA-256 of the content. */
  readonly content_hash: string;
}

/** A policy file of this machine. @throws CommandError */
export async function readPolicyFile(path: string): Promise<ReadPolicyFile> {
  // It loads what only these commands need.
  const { MOST_FILE_LENGTH } = await import('../policyFiles/index.js');
  try {
    // Others may never end.
    const file = statSync(path);
    if (!file.isFile()) throw new Error('it is no file');
    // The server says it more exactly.
    if (file.size > MOST_CHARACTER_BYTES * MOST_FILE_LENGTH)
      throw new Error(
        `it has ${file.size} bytes, and a policy file has ${MOST_FILE_LENGTH} characters at most`,
      );
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
