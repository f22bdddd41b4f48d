import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';

/** Debian's Chromium, without a screen and without asking the world for anything. Installed when it is missing. */
export function launchChromium(): Promise<Browser> {
  if (!existsSync(EXECUTABLE)) {
    const apt = (...words: readonly string[]) =>
      execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...words], { stdio: 'inherit' });
    apt('update');
    apt('install', '-y', '--no-install-recommends', 'chromium');
  }
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
