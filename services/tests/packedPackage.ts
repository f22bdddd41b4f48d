import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';

/** As `npm pack` makes it, but of the `dist` that is there: others run from it. @returns the archive */
export function packPackage(folder: string): string {
  const root = packageRoot();
  execFileSync(process.execPath, [join(root, 'deploy/bundleClient.cjs')]);
  const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
  return join(folder, execFileSync('npm', words, { cwd: root, encoding: 'utf8' }).trim());
}

/** As users do, into a folder that has nothing yet. */
export function installPackage(archive: string, folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const words = ['install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', archive];
  execFileSync('npm', words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}
