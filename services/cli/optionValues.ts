import { InvalidArgumentError } from 'commander';

/** Of a model version, as the server takes it. */
export const MOST_REPLICAS = 64;

/** Parser of an option that takes a whole number from `low` to `high`. */
export function wholeNumber(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < low || value > high) {
      throw new InvalidArgumentError(`expected a whole number from ${low} to ${high}.`);
    }
    return value;
  };
}
