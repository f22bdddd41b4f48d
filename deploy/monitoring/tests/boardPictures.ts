import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../../../services/dashboard/tests/chromium.js';
import { installDebianPackage } from '../../../simulator/files/tests/debianPackage.js';

export const PICTURE_WIDTH = 1200;
const SHRINKER = '/usr/bin/pngquant';
/** Text and lines of a few colours need no more. */
const COLOURS = '64';

/** Pages as PNG: Chromium takes them, Debian's pngquant makes them small. */
export class BoardPictures {
  private constructor(
    private readonly browser: Browser,
    private readonly page: Page,
    private readonly folder: string | undefined,
  ) {}

  /** @param folder where they are kept; undefined: nowhere */
  static async start(folder: string | undefined): Promise<BoardPictures> {
    installDebianPackage('pngquant', () => existsSync(SHRINKER));
    const browser = await launchChromium();
    const page = await browser.newPage({
      viewport: { width: PICTURE_WIDTH, height: 400 },
      colorScheme: 'light',
    });
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
    return new BoardPictures(browser, page, folder);
  }

  /** @returns how wide the page wants to be, and the size of its picture */
  async take(name: string, html: string): Promise<{ readonly width: number; readonly bytes: number }> {
    await this.page.setContent(html);
    const width = await this.page.evaluate<number>('document.documentElement.scrollWidth');
    const whole = await this.page.screenshot({ fullPage: true });
    const picture = execFileSync(SHRINKER, [COLOURS, '--nofs', '--strip', '-'], { input: whole });
    if (this.folder !== undefined) writeFileSync(join(this.folder, `${name}.png`), picture);
    return { width, bytes: picture.length };
  }

  async stop(): Promise<void> {
    await this.browser.close();
  }
}
