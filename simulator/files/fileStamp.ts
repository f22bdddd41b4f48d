import type { BigIntStats } from 'node:fs';

/** Changes whenever a file does, or what a link leads to. */
export function fileStamp({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}
