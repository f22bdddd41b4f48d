import { statSync, type Stats } from 'node:fs';
import { extname, resolve } from 'node:path';
import { packageRoot } from '../../../simulator/files/index.js';
import { reasonOf } from '../../../simulator/text/index.js';

const EXTENSIONS = ['.js', '.mjs', '.cjs'];
const TYPESCRIPT_EXTENSIONS = ['.ts', '.mts', '.cts'];

/** Where a module lies; a path that is not absolute starts at the package's root. */
export function modulePath(path: string): string {
  return resolve(packageRoot(), path);
}

/** Why there is no module at a path, without running it; undefined when there is one. */
export function moduleRefusal(path: string): string | undefined {
  let found: Stats;
  try {
    found = statSync(modulePath(path));
  } catch (error) {
    return `${path}: cannot be read: ${reasonOf(error)}`;
  }
  if (!found.isFile()) return `${path}: is no file; a model in a process is a JavaScript module`;
  const extension = extname(path);
  if (EXTENSIONS.includes(extension)) return undefined;
  if (!TYPESCRIPT_EXTENSIONS.includes(extension)) {
    return `${path}: is no JavaScript module (${EXTENSIONS.join(', ')})`;
  }
  if (runsTypeScript()) return undefined;
  return (
    `${path}: Node ${process.version} does not run TypeScript; compile it, ` +
    `'npx tsc --module nodenext --target es2022 ${path}', and give the JavaScript module`
  );
}

/** From 22.18 on Node strips types by itself, and says so. */
function runsTypeScript(): boolean {
  const { typescript } = process.features as { readonly typescript?: unknown };
  return typescript !== undefined && typescript !== false;
}
