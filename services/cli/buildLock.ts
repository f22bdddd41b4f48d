import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { packageRoot } from '../../simulator/files/index.js';
import { CommandError } from './commandError.js';

/**
 * Keeps `dist` as it is for as long as this process lives: its threads and model processes are started from there, also much
 * later. `deploy/buildIfChanged.cjs` holds the lock alone while it builds.
 * @throws CommandError a build is under way
 */
export function holdBuild(): void {
  const path = join(packageRoot(), 'dist/.lock');
  let file: number;
  try {
    // Where it was built by somebody else, this one may only read.
    file = openSync(path, existsSync(path) ? 'r' : 'a+');
  } catch {
    return;
  }
  if (!tryLock(file, { shared: true }))
    throw new CommandError('dist is being built: start the server when that is done');
}
