import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelSummary } from '../../../simulator/idempotency/index.js';

/** What is known of a kernel. */
export interface KernelFindings {
  readonly summary: KernelSummary;
  /** The analysis left questions that a solver might answer. */
  readonly isOpen: boolean;
  /** Name and version of the solver that was asked; another one may find more. */
  readonly solver?: string;
}

/** What is in a file. */
interface KeptAnalysis extends KernelFindings {
  readonly analyser: string;
}

/**
 * Analyses of kernels in a folder, a file each by the key of the kernel's content, so that a server that starts again does not analyse
 * again. What another analyser has left is as good as nothing. A folder that cannot be used keeps nothing: that costs time only.
 */
export class AnalysisStore {
  /** @param analyser names the code that analyses: what it has found before holds for as long as that is the same */
  constructor(
    private readonly directory: string,
    private readonly analyser: string,
  ) {}

  read(key: string): KernelFindings | undefined {
    try {
      const { analyser, ...found } = JSON.parse(readFileSync(this.fileOf(key), 'utf8')) as KeptAnalysis;
      return analyser === this.analyser ? found : undefined;
    } catch {
      return undefined;
    }
  }

  write(key: string, found: KernelFindings): void {
    const kept: KeptAnalysis = { analyser: this.analyser, ...found };
    const file = this.fileOf(key);
    try {
      mkdirSync(this.directory, { recursive: true });
      // Whole or not at all, also when two servers write it.
      writeFileSync(`${file}.${process.pid}`, JSON.stringify(kept));
      renameSync(`${file}.${process.pid}`, file);
    } catch {
      // Analysed again at the next start.
    }
  }

  private fileOf(key: string): string {
    return join(this.directory, `${key}.json`);
  }
}

/** SHA-256 over all compiled code in some folders: any change of an analyser makes another one of it. */
export function codeIdentity(folders: readonly string[]): string {
  const hash = createHash('sha256');
  for (const folder of folders) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.js') && !name.endsWith('.test.js')).sort()) {
      hash
        .update(file)
        .update('\0')
        .update(readFileSync(join(folder, file)))
        .update('\0');
    }
  }
  return hash.digest('hex');
}
