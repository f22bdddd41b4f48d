/** The library has no types of its own. */
declare module 'fs-native-extensions' {
  /** Locks all of an open file exclusively unless told otherwise, by its open description (Linux: OFD), or answers false. */
  export function tryLock(file: number, options?: { readonly shared?: boolean }): boolean;
}
