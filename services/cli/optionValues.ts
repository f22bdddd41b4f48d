import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { withForm } from './configuration/index.js';

/** Of a model version, as the server takes it. */
export const MOST_REPLICAS = 64;

const MIB = 1024 * 1024;

/** Parser of an option that takes mebibytes, 1 KiB at least, that are a whole number of bytes. */
export function mebibytes(high: number): (text: string) => number {
  return withForm({ kind: 'number', isWhole: false, least: 1 / 1024, most: high }, (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value * MIB) || value < 1 / 1024 || value > high) {
      throw new InvalidArgumentError(
        `expected a number of MiB from 0.0009765625 (1 KiB) to ${high} that is a whole number of bytes.`,
      );
    }
    return value;
  });
}

const REPEATED = { kind: 'list', isRepeated: true } as const;

/** Parser of an option that may be given again, and keeps all. */
export const eachOne = withForm(REPEATED, (text: string, before: readonly string[] = []) => [
  ...before,
  text,
]);

/** Parser of an option that takes origins of web pages, one after the other, as browsers write them; `*`: any. */
export const webOrigins = withForm(REPEATED, originsWith);

function originsWith(text: string, before: readonly string[] = []): readonly string[] {
  if (text === '*') return [...before, text];
  const origin = URL.canParse(text) ? new URL(text).origin : 'null';
  if (!/^https?:/.test(origin))
    throw new InvalidArgumentError('expected https://HOST, http://HOST:PORT or *.');
  if (origin !== text) throw new InvalidArgumentError(`browsers write this origin as ${origin}.`);
  return [...before, origin];
}

/** Parser of an option that takes a number above 0. */
export function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('expected a number above 0.');
}

/** Parser of an option that takes a whole number from `low` to `high`. */
export function wholeNumber(low: number, high: number): (text: string) => number {
  return withForm({ kind: 'number', isWhole: true, least: low, most: high }, (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < low || value > high) {
      throw new InvalidArgumentError(`expected a whole number from ${low} to ${high}.`);
    }
    return value;
  });
}

export function logFileOption(): Option {
  return new Option(
    '--log-file <file>',
    'append the log to this file, which SIGHUP opens anew, in place of standard error',
  );
}

/** The option for another device than a launch spec names; a file's path starts where the command runs. */
export function deviceOption(): Option {
  return new Option(
    '--device <card>',
    "a device in place of the spec's: a name of `gpu devices`, or a JSON file",
  ).argParser((text) => (text.endsWith('.json') || text.includes('/') ? resolve(text) : text));
}
