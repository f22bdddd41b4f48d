import { InvalidArgumentError, Option } from 'commander';

/** `--feature NAME=NUMBER`, which may be repeated: an object of all. */
export function featureOption(): Option {
  return new Option(
    '--feature <name=number>',
    "what the application's policy may choose by; may be repeated",
  ).argParser(addFeature);
}

function addFeature(
  text: string,
  before: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> {
  const at = text.lastIndexOf('=');
  const value = Number(text.slice(at + 1));
  if (at < 1 || text.slice(at + 1).trim() === '' || !Number.isFinite(value))
    throw new InvalidArgumentError('expected NAME=NUMBER, such as hour=14.');
  return { ...before, [text.slice(0, at)]: value };
}
