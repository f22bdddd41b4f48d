import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative, dirname } from 'node:path';
import { parse } from 'es-module-lexer/js';
import { kernelModelFiles } from '../models/index.js';
import type { ContainerSource } from './modelContainer.js';
import { modulePath } from './process/index.js';

/** A version is what its files said when it was registered: more files of a module than these are not looked at. */
const MOST_FILES = 10_000;

interface Known {
  /** What tells that no file has changed since. */
  readonly stamp: string;
  readonly hash: string;
}

/** Files as they were last read: a replica that starts again costs a look at each and no more. */
const known = new Map<string, Known>();
const MOST_KNOWN = 1024;

/**
 * SHA-256, hexadecimal, over the files that make a model what it is: manifest, PTX, weights and golden inputs of a kernel
 * model; a module and what it imports by relative paths, whatever those import too. Packages and data that a module reads
 * are not among them.
 * @returns undefined for what has no files here
 * @throws Error when a file cannot be read
 */
export function contentHash(source: ContainerSource): string | undefined {
  if (source.kind !== 'kernelModel' && source.kind !== 'process') return undefined;
  const place = `${source.kind} ${source.path}`;
  const files = source.kind === 'kernelModel' ? kernelModelFiles(source.path) : moduleFiles(source.path);
  const stamp = files.map(stampOf).join('\n');
  const before = known.get(place);
  if (before?.stamp === stamp) return before.hash;
  const sum = createHash('sha256');
  const root = dirname(files[0]);
  for (const file of files) {
    const content = readFileSync(file);
    // The length keeps what belongs to one file apart from the next.
    sum.update(`${relative(root, file)}\0${content.length}\0`).update(content);
  }
  const hash = sum.digest('hex');
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(place, { stamp, hash });
  return hash;
}

function stampOf(file: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  return `${file} ${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** The module first, then what it imports, in order of their paths. */
function moduleFiles(path: string): string[] {
  const entry = modulePath(path);
  const found = new Set([entry]);
  for (const file of found) {
    if (found.size > MOST_FILES) throw new Error(`${path} imports more than ${MOST_FILES} files`);
    for (const imported of importsOf(file)) found.add(imported);
  }
  found.delete(entry);
  return [entry, ...[...found].sort()];
}

const REQUIRED = /\brequire\s*\(\s*(['"])(\.{1,2}\/[^'"\n]+)\1\s*\)/g;

function importsOf(file: string): string[] {
  if (!/\.[cm]?[jt]s$/.test(file)) return [];
  const text = readFileSync(file, 'utf8');
  const names = [...text.matchAll(REQUIRED)].map((match) => match[2]);
  try {
    for (const { specifier } of parse(text)[0]) {
      if (specifier?.startsWith('.') === true) names.push(specifier);
    }
  } catch {
    // CommonJS, or not JavaScript at all: its process will say so.
  }
  const { resolve } = createRequire(file);
  return names.flatMap((name) => {
    try {
      return [resolve(name.replace(/[?#].*$/, ''))];
    } catch {
      return [];
    }
  });
}
