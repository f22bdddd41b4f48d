/** Why something was thrown, in its own words: for a text that says what failed. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
