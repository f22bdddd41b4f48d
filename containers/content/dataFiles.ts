import { readdirSync, statSync, type Stats } from 'node:fs';
import { basename, join } from 'node:path';

/** A version is what its files said when it was registered: more files of a model than these are not looked at. */
export const MOST_FILES = 10_000;

/** Files that a name means, absolute: itself, or, of a folder's, all that are in it. None when it is neither. */
export function filesNamed(path: string): string[] {
  const found = statsAt(path);
  if (found?.isFile() === true) return [path];
  return found?.isDirectory() === true ? filesBelow(path) : [];
}

/** undefined where nothing can be found: no such file, no such folder on the way, no path at all. */
export function statsAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** @throws Error when there are too many */
function filesBelow(folder: string): string[] {
  const files: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) {
        if (basename(path) !== '__pycache__') folders.push(path);
      } else if (entry.isFile()) files.push(path);
    }
    if (files.length > MOST_FILES) throw new Error(`${folder}: more than ${MOST_FILES} files are in it`);
  }
  return files;
}
