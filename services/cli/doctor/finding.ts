/** What is so, and of what is not well what to do about it. */
export interface Finding {
  /** What was looked at, in a word or two. */
  readonly check: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly found: string;
  readonly fix?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, level: 'ok', found });
export const warn = (check: string, found: string, fix: string): Finding => ({
  check,
  level: 'warn',
  found,
  fix,
});
export const fail = (check: string, found: string, fix: string): Finding => ({
  check,
  level: 'fail',
  found,
  fix,
});

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / (1024 * 1024))} MiB`;
}
