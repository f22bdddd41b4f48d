import { CommandError } from './commandError.js';
import { optionText } from './optionFile.js';

/**
 * For an address of a Redis that has no password: from a file, as orchestrators mount secrets, or from the environment.
 * @throws CommandError
 */
export function redisPassword(file: string | undefined, environment: NodeJS.ProcessEnv): string | undefined {
  if (file === undefined) return environment['WINDJAMMER_REDIS_PASSWORD'];
  const password = optionText('--redis-password-file', file).replace(/\r?\n$/, '');
  if (password !== '' && !/[\r\n]/.test(password)) return password;
  throw new CommandError(`--redis-password-file: ${file} is to hold one line, the password`);
}
