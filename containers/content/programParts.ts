import { relative, resolve, sep } from 'node:path';
import { filesNamed } from './dataFiles.js';
import { contentOf, type Content, type NamedFile } from './fileHash.js';

/** A longer word is no path. */
const MOST_NAME = 1024;

/** A word of a command: as it is, or in quotes. */
const WORD = /'([^']*)'|"([^"]*)"|([^\s'"|&;<>()]+)/g;

/**
 * The files that a command names by a path from its folder, in order of their names: `./model --weights=w.bin` has `model` and
 * `w.bin`; of a folder that it names all files. What it names by an absolute path is each machine's own.
 * @param folder absolute
 * @throws Error when a folder cannot be read
 */
export function programParts(folder: string, command: string): NamedFile[] {
  const found = new Set<string>();
  for (const [, single, double, plain] of command.matchAll(WORD)) {
    const word = single ?? double ?? plain;
    for (const name of [word, word.slice(word.indexOf('=') + 1)]) {
      if (name === '' || name.startsWith('/') || name.length > MOST_NAME) continue;
      const path = resolve(folder, name);
      // The folder itself, or one that it is in, is where it runs and nothing that it names.
      if (path === folder || folder.startsWith(path + sep)) continue;
      for (const file of filesNamed(path)) found.add(file);
    }
  }
  return [...found]
    .map((path) => ({ name: relative(folder, path), path }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @throws Error when a file cannot be read */
export function programContent(folder: string, command: string): Content {
  return contentOf(programParts(folder, command));
}
