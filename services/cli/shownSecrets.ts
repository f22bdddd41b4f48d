import type { Command } from 'commander';
import type { Complaint } from '../errors/index.js';
import { keyOf, optionsOf } from './configuration/index.js';

/** User and password of an address. */
const PASSWORD = /(?<=^[a-z+]+:\/\/[^/@]*:)[^/@]+(?=@)/;

/** A value of an option as it may be shown. */
export function withoutPassword(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(PASSWORD, '…') : value;
}

/** Options whose passwords stand in the list of processes, which everybody on the machine can read. */
function shownPasswords(command: Command): readonly string[] {
  return optionsOf(command)
    .filter((option) => {
      const name = option.attributeName();
      const value: unknown = command.getOptionValue(name);
      return command.getOptionValueSource(name) === 'cli' && withoutPassword(value) !== value;
    })
    .map((option) => `--${keyOf(option)}`);
}

/** Says so of them. */
export function warnOfPasswords(command: Command, complain: Complaint): void {
  for (const option of shownPasswords(command)) {
    complain(
      'a password on the command line is read by everybody on this machine: give it as WINDJAMMER_REDIS_PASSWORD or by --redis-password-file, or the address in a --config file',
      { option },
    );
  }
}
