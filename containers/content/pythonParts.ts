import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { filesNamed, MOST_FILES, statsAt } from './dataFiles.js';
import { contentOf, type Content, type NamedFile } from './fileHash.js';

const MOST_TEXT_BYTES = 64 * 1024 * 1024;
/** A longer list of texts is none of a path's pieces, and a longer text no path. */
const MOST_PIECES = 8;
const MOST_NAME = 1024;

/** `import a.b, c as d`. */
const IMPORT = /^[^\S\n]*import[^\S\n]+([^\n#;]+)/gm;
/** `from ..a.b import c, d`, also with the names in brackets. */
const FROM = /^[^\S\n]*from[^\S\n]+(\.*)([\w.]*)[^\S\n]+import[^\S\n]*(?:\(([^)]*)\)|([^\n#;]+))/gm;
/** Texts one behind the other, with a comma or a slash between: `join(HERE, "data", "w.npy")`, `HERE / "data" / "w.npy"`. */
const QUOTED = /(?<![\w])[rRbBuU]{0,2}(?:"([^"\n]*)"|'([^'\n]*)')/;
const CHAIN = new RegExp(`${QUOTED.source}(?:\\s*[,/]\\s*${QUOTED.source})*`, 'g');
/** Files may be written: what is named may be what they leave. */
const WRITES =
  /\bopen\s*\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*,\s*(?:mode\s*=\s*)?["'][rbt]*[wax+]|\.(?:write_text|write_bytes|to_csv|savez?|dump)\s*\(|\bos\.(?:rename|replace|remove|unlink)\s*\(|\bshutil\./;

/**
 * The content of a Python module and its parts: what it imports from its own folder, whatever that imports too, and files that
 * its text names by a path from there, all files of a folder whose name ends in a slash. Packages are none of it, nor what a
 * module names by a text that it puts together, nor data that a module names which writes files, too.
 * @param path absolute
 * @throws Error when a file cannot be read
 */
export function pythonContent(path: string): Content {
  return contentOf(pythonParts(path));
}

/** The module first, then its parts, in order of their names: paths from the module's folder. */
export function pythonParts(path: string): NamedFile[] {
  // Where imports are looked for, and where the process works.
  const root = dirname(path);
  const found = new Map([[path, basename(path)]]);
  let textBytes = 0;
  for (const file of found.keys()) {
    if (found.size > MOST_FILES) throw new Error(`it has more than ${MOST_FILES} parts`);
    if (!file.endsWith('.py')) continue;
    textBytes += statSync(file).size;
    if (textBytes > MOST_TEXT_BYTES)
      throw new Error(`with what it imports it has more than ${MOST_TEXT_BYTES >> 20} MiB of text`);
    const text = readFileSync(realpathSync(file), 'utf8');
    const data = WRITES.test(text) ? [] : dataOf(text, [root, dirname(file)]);
    for (const part of [...importsOf(text, root, dirname(file)), ...data]) {
      if (!found.has(part)) found.set(part, relative(root, part));
    }
  }
  found.delete(path);
  const parts = [...found].map(([part, name]) => ({ name, path: part }));
  return [{ name: basename(path), path }, ...parts.sort((a, b) => (a.name < b.name ? -1 : 1))];
}

/** @param root where absolute imports are looked for. @param folder the file's own, where relative ones are */
function importsOf(text: string, root: string, folder: string): string[] {
  const files: string[] = [];
  for (const [, list] of text.matchAll(IMPORT)) {
    for (const name of namesIn(list)) files.push(...modulesAt(root, name.split('.')));
  }
  for (const [, dots, name, bracketed, plain] of text.matchAll(FROM)) {
    const base = dots === '' ? root : resolve(folder, ...new Array<string>(dots.length - 1).fill('..'));
    const parts = name === '' ? [] : name.split('.');
    files.push(...modulesAt(base, parts));
    for (const one of namesIn(bracketed ?? plain)) files.push(...modulesAt(base, [...parts, one]));
  }
  return files;
}

function namesIn(list: string): string[] {
  return list
    .replace(/#[^\n]*/g, '')
    .split(',')
    .map((one) => one.trim().split(/\s/)[0])
    .filter((one) => /^[\w.]+$/.test(one));
}

/** `a.b` is a/b.py or a/b/__init__.py, and packages on the way are loaded as well. */
function modulesAt(base: string, parts: readonly string[]): string[] {
  const candidates = parts.flatMap((_, at) => {
    const path = join(base, ...parts.slice(0, at + 1));
    return [join(path, '__init__.py'), `${path}.py`];
  });
  return candidates.filter((one) => statsAt(one)?.isFile() === true);
}

function dataOf(text: string, folders: readonly string[]): string[] {
  const names = [...text.matchAll(CHAIN)].flatMap(([chain]) => {
    const pieces = [...chain.matchAll(new RegExp(QUOTED.source, 'g'))].map(
      ([, double, single]: readonly (string | undefined)[]) => double ?? single ?? '',
    );
    if (pieces.length > MOST_PIECES) return pieces;
    // Each by itself, and those from each on together.
    return pieces.flatMap((piece, from) => [piece, join(...pieces.slice(from))]);
  });
  const isPath = (name: string): boolean =>
    !/^\.*\/*$/.test(name) && !name.startsWith('/') && name.length <= MOST_NAME && !name.includes('\0');
  return [...new Set(names)].filter(isPath).flatMap((name) =>
    folders.flatMap((folder) => {
      const path = resolve(folder, name);
      const isFolder = statsAt(path)?.isDirectory() === true;
      return isFolder && !name.endsWith('/') ? [] : filesNamed(path);
    }),
  );
}
