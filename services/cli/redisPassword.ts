import { readFileSync } from 'node:fs';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';

/**
 * For an address of a Redis that has no password: from a file, as orchestrators mount secrets, or from the environment.
 * @throws CommandError
 */
export function redisPassword(file: string | undefined, environment: NodeJS.ProcessEnv): string | undefined {
  if (file === undefined) return environment['WINDJAMMER_REDIS_PASSWORD'];
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`--redis-password-file: ${reasonOf(error)}`, { cause: error });
  }
  const password = text.replace(/\r?\n$/, '');
  if (password !== '' && !/[\r\n]/.test(password)) return password;
  throw new CommandError(`--redis-password-file: ${file} is to hold one line, the password`);
}
