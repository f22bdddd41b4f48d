import type { Json } from '../../selection/index.js';
import type { PolicyTraits } from './hostedPolicy.js';
import { PolicyChild } from './policyChild.js';
import { PolicyFileError } from './policyFileError.js';
import type { PolicyFile, PolicyReply } from './policyHost.js';
import { StartTurns } from './startTurns.js';

/** What a file is checked with. */
export interface FileCheck {
  /** Of the application's policy. */
  readonly parameters: Json;
  /** That the application names, of the file. */
  readonly loss?: string | undefined;
  /** A state that the policy is to go on from. */
  readonly learned?: Json | undefined;
}

export interface CheckedFile extends PolicyTraits {
  /** Why it does not take the learned state. */
  readonly refused?: string | undefined;
}

/** What a file has to come to an end, at first and where that was too short: those that take long wait for those that have not been tried. */
const CHECK_MS = [500, 5000] as const;
export const MOST_FILE_LENGTH = 262_144;
/** Files that are tried at once; others wait for their turn. */
const TRIALS = new StartTurns(2);

/**
 * Loads a policy file in a process and asks of it what every query and feedback would.
 * @throws PolicyFileError (as a rejection) naming what is wrong
 */
export function checkFile(file: PolicyFile, check: FileCheck): Promise<CheckedFile> {
  if (file.text.length > MOST_FILE_LENGTH) {
    const message = `${file.name} has ${file.text.length} characters, and ${MOST_FILE_LENGTH} are the most`;
    return Promise.reject(new PolicyFileError('file', message));
  }
  return inTurn(file, check, 0);
}

async function inTurn(file: PolicyFile, check: FileCheck, turn: number): Promise<CheckedFile> {
  const leave = await new Promise<() => void>((resolve) => TRIALS.take(turn, resolve));
  let checked: CheckedFile | undefined;
  try {
    checked = await tried(file, check, CHECK_MS[turn]);
  } finally {
    leave();
  }
  if (checked !== undefined) return checked;
  if (turn + 1 < CHECK_MS.length) return inTurn(file, check, turn + 1);
  const seconds = CHECK_MS[turn] / 1000;
  throw new PolicyFileError('file', `${file.name}: it did not come to an end within ${seconds} s: it loops`);
}

/** @returns undefined: it did not come to an end within so long */
function tried(file: PolicyFile, check: FileCheck, withinMs: number): Promise<CheckedFile | undefined> {
  return new Promise((resolve, reject) => {
    let traits: PolicyTraits | undefined;
    const refuse = (message: string, field = 'file'): void => {
      end();
      reject(new PolicyFileError(field, message));
    };
    const child = new PolicyChild({
      onLine: (line) => {
        const reply = JSON.parse(line) as PolicyReply & {
          readonly loaded?: PolicyTraits;
          readonly checked?: { readonly refused?: string };
        };
        if (reply.fault !== undefined) {
          const { kind, field, message } = reply.fault;
          if (kind === 'refused' && field !== undefined) refuse(message, field);
          else refuse(message.startsWith(`${file.name}:`) ? message : `${file.name}: ${message}`);
        } else if (reply.loaded !== undefined) {
          traits = reply.loaded;
          child.write(JSON.stringify({ id: 1, op: 'check', ...check }));
        } else if (reply.checked !== undefined && traits !== undefined) {
          end();
          resolve({ ...traits, ...reply.checked });
        }
      },
      onEnd: (reason) => refuse(`${file.name}: ${reason}`),
    });
    const timer = setTimeout(() => {
      end();
      resolve(undefined);
    }, withinMs);
    const end = (): void => {
      clearTimeout(timer);
      child.close();
    };
    child.write(JSON.stringify(file));
  });
}
