import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';

export interface ReadPolicyFile {
  readonly name: string;
  readonly content: string;
  /** SHA-256 of the content. */
  readonly content_hash: string;
}

/** A policy file of this machine. @throws CommandError */
export function readPolicyFile(path: string): ReadPolicyFile {
  try {
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
