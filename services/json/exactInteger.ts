/** An integer of JSON that no double holds: as it came. */
export class ExactInteger {
  /** @param text its digits, behind a minus where there is one */
  constructor(readonly text: string) {}

  /** The double that `JSON.parse` makes of it. */
  get near(): number {
    return Number(this.text);
  }
}

/** What a text with an integer has that no double holds. */
export const MANY_DIGITS = /\d{16}/;
