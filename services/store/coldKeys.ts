import { storeKey } from './storeKey.js';

const COLD = 'cold/';

/**
 * A key of something of which there may be millions: stores keep it out of memory but while somebody holds it. All but its last part
 * is its folder.
 * @throws StoreError `invalidKey`
 */
export function coldKey(folder: string, name: string): string {
  return `${folder}/${storeKey(name)}`;
}

/** @throws StoreError `invalidKey` */
export function coldFolder(...parts: readonly string[]): string {
  return storeKey('cold', ...parts);
}

export function isCold(key: string): boolean {
  return key.startsWith(COLD);
}

/** Of a cold key. */
export function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}
