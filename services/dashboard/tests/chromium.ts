import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { installDebianPackage } from '../../../simulator/files/tests/debianPackage.js';

const EXECUTABLE = '/usr/bin/chromium';

/** Debian's Chromium, without a screen and without asking the world for anything. Installed when it is missing. */
export function launchChromium(): Promise<Browser> {
  installDebianPackage('chromium', () => existsSync(EXECUTABLE));
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
