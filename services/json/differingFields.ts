type Fields = Readonly<Record<string, unknown>>;

/** Names of the fields that one of two objects lacks, or that are other JSON in the other, in their order. */
export function differingFields(before: Fields, after: Fields): string[] {
  return Object.keys({ ...before, ...after }).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
}
