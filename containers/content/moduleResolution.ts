import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** `import` names a URL, `require` a path whose ending may be left out. */
export type Manner = 'import' | 'require' | 'either';

const ENDINGS = ['', '.js', '.json', '.node'];

/**
 * Where Node looks for what a module names by a path, or by a name of its package's own (`#name`). Node's own resolution
 * remembers what it found, and links and files change.
 * @param folder the module's
 */
export function candidates(folder: string, specifier: string, manner: Manner): string[] {
  if (specifier.startsWith('#')) return ofPackage(folder, specifier);
  const byUrl = manner === 'require' ? [] : urlPath(folder, specifier);
  return manner === 'import' ? byUrl : [...byUrl, ...requirePaths(resolve(folder, specifier))];
}

function urlPath(folder: string, specifier: string): string[] {
  try {
    return [fileURLToPath(new URL(specifier, `${pathToFileURL(folder).href}/`))];
  } catch {
    return [];
  }
}

function requirePaths(path: string): string[] {
  const paths = ENDINGS.map((ending) => path + ending);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return paths;
  const main = packageAt(path)?.['main'];
  const mains =
    typeof main !== 'string'
      ? []
      : [join(path, main), join(path, main, 'index')].flatMap((one) => ENDINGS.map((ending) => one + ending));
  return [...paths, ...mains, ...ENDINGS.map((ending) => join(path, 'index') + ending)];
}

/** Files of a package's `imports`, under whatever conditions. */
function ofPackage(folder: string, specifier: string): string[] {
  const home = packageFolder(folder);
  const imports = home === undefined ? undefined : packageAt(home)?.['imports'];
  if (home === undefined || typeof imports !== 'object' || imports === null) return [];
  for (const [name, target] of Object.entries(imports)) {
    const [before, after] = name.split('*', 2) as [string, string | undefined];
    const isMeant =
      after === undefined
        ? name === specifier
        : specifier.startsWith(before) && specifier.endsWith(after) && specifier.length >= name.length;
    if (!isMeant) continue;
    const star = specifier.slice(before.length, specifier.length - (after?.length ?? 0));
    return textsOf(target)
      .filter((text) => text.startsWith('./'))
      .map((text) => join(home, text.replaceAll('*', star)));
  }
  return [];
}

function textsOf(target: unknown): string[] {
  if (typeof target === 'string') return [target];
  return typeof target === 'object' && target !== null ? Object.values(target).flatMap(textsOf) : [];
}

function packageFolder(folder: string): string | undefined {
  if (statSync(join(folder, 'package.json'), { throwIfNoEntry: false })?.isFile() === true) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : packageFolder(above);
}

function packageAt(folder: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const file = join(folder, 'package.json');
    if (!statSync(file).isFile()) return undefined;
    const json: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
