import { execFileSync } from 'node:child_process';

/** Debian's package, for tests that ask a real program. Installed when it is missing. */
export function installDebianPackage(name: string, isThere: () => boolean): void {
  if (isThere()) return;
  const apt = (...words: readonly string[]) =>
    execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...words], { stdio: 'inherit' });
  apt('update');
  apt('install', '-y', '--no-install-recommends', name);
}
