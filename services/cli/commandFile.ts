import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';

/** The compiled command, for whoever starts it as a process of its own. @throws Error before a build */
export function commandFile(): string {
  const file = join(packageRoot(), 'dist/services/cli/main.js');
  if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
  return file;
}
