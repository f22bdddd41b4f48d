import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packageRoot } from '../../simulator/files/index.js';

export interface PageAsset {
  readonly contentType: string;
  readonly plain: Encoded;
  readonly gzipped: Encoded;
}

/** @param tag a strong entity tag */
export type Encoded = Readonly<{ bytes: Buffer; tag: string }>;

const SOURCE = 'services/dashboard/page';
/** The page's modules are compiled for browsers, also when the server itself runs as TypeScript. */
const MODULES = 'dist/services/dashboard/page';

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** The page of the query interface, and that of management. */
export type PageName = 'index' | 'management';

/**
 * Every file that a page consists of, by its exact path: whatever is not in the table does not exist.
 * @throws Error when the page's modules are not compiled.
 */
export function pageAssets(page: PageName = 'index'): ReadonlyMap<string, PageAsset> {
  const root = packageRoot();
  const modules = join(root, MODULES);
  if (!existsSync(modules)) throw new Error(`${modules} is missing: run 'npm run build' first`);
  const uPlot = join(dirname(createRequire(import.meta.url).resolve('uplot/package.json')), 'dist');
  const assets = new Map<string, PageAsset>([
    ['/', asset(join(root, SOURCE, `${page}.html`), 'text/html; charset=utf-8')],
    ['/dashboard/style.css', asset(join(root, SOURCE, 'style.css'), STYLE)],
    ['/dashboard/icon.svg', asset(join(root, SOURCE, 'icon.svg'), 'image/svg+xml')],
    ['/dashboard/uPlot.min.css', asset(join(uPlot, 'uPlot.min.css'), STYLE)],
    ['/dashboard/uPlot.esm.js', asset(join(uPlot, 'uPlot.esm.js'), SCRIPT)],
  ]);
  for (const file of readdirSync(modules)) {
    if (file.endsWith('.js')) assets.set(`/dashboard/${file}`, asset(join(modules, file), SCRIPT));
  }
  return assets;
}

function asset(path: string, contentType: string): PageAsset {
  const bytes = readFileSync(path);
  return { contentType, plain: encoded(bytes), gzipped: encoded(gzipSync(bytes)) };
}

function encoded(bytes: Buffer): Encoded {
  return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}
