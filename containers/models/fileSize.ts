import { statSync } from 'node:fs';

/** Bytes of a file. Pipes and devices are refused: reading them may never end. @throws Error */
export function fileSize(path: string): number {
  const found = statSync(path);
  if (!found.isFile()) throw new Error('not a file');
  return found.size;
}
