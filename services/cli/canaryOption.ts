import { InvalidArgumentError, Option } from 'commander';

/** True: with none; else parameters of policy `canary`, which the server checks. */
export type CanaryOption = true | Readonly<Record<string, unknown>>;

export function canaryOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text: string): CanaryOption => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      // An option whose value may be left out takes what stands behind it.
      const hint = text.includes('{') ? '' : '; name the model before this option';
      throw new InvalidArgumentError(`it is no JSON: ${(cause as Error).message}${hint}`);
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>;
    }
    throw new InvalidArgumentError('give an object of parameters, such as {"loss": 0.01}');
  });
}
