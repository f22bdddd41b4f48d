import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { MOST_FILES } from './dataFiles.js';
import { contentOf, type Content, type NamedFile } from './fileHash.js';
import { mentionsOf } from './moduleMentions.js';
import { candidates, type Manner } from './moduleResolution.js';

const MOST_TEXT_BYTES = 64 * 1024 * 1024;

const CODE = /\.[cm]?[jt]s$/;
/** What is loaded as code, and hardly written. */
const LOADED = /\.(?:[cm]?[jt]s|node|wasm)$/;

/**
 * The content of a module and its parts: what it imports or requires by a path, whatever that imports too, and
 * files that its text names by a path from its own folder. Packages are none of it, nor what a module names by a text that it
 * puts together, nor data that a module names which writes files, too.
 * @param path absolute
 * @throws Error when a file cannot be read
 */
export function moduleContent(path: string): Content {
  return contentOf(moduleParts(path));
}

/** The module first, then its parts, in order of their names: paths from the module's folder, whatever links lead there. */
export function moduleParts(path: string): NamedFile[] {
  const entry: NamedFile = { name: basename(path), path };
  // As Node does, from where the file really is.
  const root = dirname(realpathSync(path));
  const found = new Map([[path, entry]]);
  let textBytes = 0;
  for (const { path: file } of found.values()) {
    if (found.size > MOST_FILES) throw new Error(`it imports more than ${MOST_FILES} files`);
    if (!CODE.test(file)) continue;
    textBytes += sizeOf(file);
    if (textBytes > MOST_TEXT_BYTES)
      throw new Error(`with what it imports it has more than ${MOST_TEXT_BYTES >> 20} MiB of text`);
    for (const part of partsOf(file)) {
      if (!found.has(part)) found.set(part, { name: relative(root, part), path: part });
    }
  }
  found.delete(path);
  return [entry, ...[...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))];
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** @throws Error for what is no file */
function sizeOf(file: string): number {
  const found = statSync(file);
  if (!found.isFile()) throw new Error(`${file}: not a file`);
  return found.size;
}

/** Absolute paths of files that a module's text names. */
function partsOf(file: string): string[] {
  const folder = dirname(realpathSync(file));
  const text = readFileSync(file, 'utf8');
  const { imported, required, named, writes } = mentionsOf(text);
  const files = (names: readonly string[], manner: Manner): string[] =>
    names.flatMap((name) => firstFile(candidates(folder, name, manner)));
  return [
    ...files(imported, 'import'),
    ...files(required, 'require'),
    ...files(named, 'either').filter((part) => LOADED.test(part) || (!writes && isFile(part))),
  ];
}

/** What is no folder; a pipe or a device in place of code is refused by whoever hashes it. */
function firstFile(paths: readonly string[]): string[] {
  const found = paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === false);
  return found === undefined ? [] : [found];
}
