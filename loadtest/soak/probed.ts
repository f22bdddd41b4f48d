import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandOptions, RunningCommand } from '../../services/tests/runningCommand.js';
import { packageRoot } from '../../simulator/files/index.js';
import type { ServerSample } from './serverProbe.js';

/** Compiled, as processes of their own need it, even when this runs as TypeScript. */
export function compiled(name: string): string {
  const file = join(packageRoot(), 'dist/loadtest', name);
  if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
  return file;
}

/** How a process is started that `sampleOf` can ask. */
export const PROBED: CommandOptions = {
  nodeWords: ['--expose-gc', '--import', compiled('soak/serverProbe.js')],
  isAsked: true,
};

/** Levels of the log from which on something is broken and not only reported. */
const ERROR_LEVEL = 50;
const SAMPLE_MS = 10_000;

/** @throws Error when there is none in 10 s (as a rejection) */
export function sampleOf({ child }: RunningCommand): Promise<ServerSample> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`there was no sample in ${SAMPLE_MS} ms`)), SAMPLE_MS);
    child.once('message', (sample) => {
      clearTimeout(late);
      resolve(sample as ServerSample);
    });
    child.send('sample', (error) => {
      if (error === null) return;
      clearTimeout(late);
      reject(error);
    });
  });
}

/** Warnings are the log's business; an error, or a text that is no log line at all, is a defect. */
export function watchLog({ child }: RunningCommand, onDefect: (line: string) => void): void {
  let rest = '';
  child.stderr.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') continue;
      const level = /^\{"level":(\d+)/.exec(line)?.[1];
      if (level === undefined || Number(level) >= ERROR_LEVEL) onDefect(line);
    }
  });
}
