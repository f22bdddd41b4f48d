import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { installDebianPackage } from '../../../simulator/files/tests/debianPackage.js';
import { launchChromium } from './chromium.js';

const SHRINKER = '/usr/bin/pngquant';
/** Text and lines of a few colours need no more. */
const COLOURS = '64';

export interface Picture {
  /** How wide the page wants to be. */
  readonly width: number;
  /** Of the PNG. */
  readonly bytes: number;
}

/** Pages as PNG: Chromium takes them, Debian's pngquant makes them small. */
export class Pictures {
  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
    private readonly folder: string | undefined,
  ) {}

  /**
   * @param width in pixels
   * @param folder where they are kept; undefined: nowhere
   */
  static async start(width: number, folder: string | undefined): Promise<Pictures> {
    installDebianPackage('pngquant', () => existsSync(SHRINKER));
    const browser = await launchChromium();
    const page = await browser.newPage({ viewport: { width, height: 400 }, colorScheme: 'light' });
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
    return new Pictures(browser, page, folder);
  }

  /** @param name of the file, without its ending */
  async take(name: string, html: string): Promise<Picture> {
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
