import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

const MOST_BYTES = 8 * 2 ** 20;

/**
 * Source files that lie beside a PTX file, by the last part of the name that its `.file` gives. Only there: the name comes
 * from a file that may be anybody's, and must not choose what is read from the rest of the disk.
 */
export class SourceFiles {
  private readonly known = new Map<string, readonly string[] | undefined>();

  constructor(private readonly folder: string) {}

  line(file: string, line: number): string | undefined {
    return this.lines(file)?.[line - 1];
  }

  lines(file: string): readonly string[] | undefined {
    if (!this.known.has(file)) this.known.set(file, this.read(file));
    return this.known.get(file);
  }

  private read(file: string): readonly string[] | undefined {
    const name = basename(file.replaceAll('\\', '/'));
    if (name === '' || name === '.' || name === '..') return undefined;
    const path = join(this.folder, name);
    try {
      const { size } = statSync(path);
      return size > MOST_BYTES ? undefined : readFileSync(path, 'utf8').split(/\r?\n/);
    } catch {
      return undefined;
    }
  }
}
