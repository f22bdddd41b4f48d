import type { Source } from './figure.js';
import type { ResolvedCard } from './resolveCard.js';

/** A card with all its figures as a file holds it: what `resolveCard` reads. */
export function cardJson({ profile, figures }: ResolvedCard): Record<string, unknown> {
  const names = new Map<string, { name: string; source: Source }>();
  const nameOf = (source: Source): string => {
    const key = JSON.stringify(source);
    const known = names.get(key);
    if (known !== undefined) return known.name;
    const count = [...names.values()].filter((each) => each.source.kind === source.kind).length;
    const name = `${source.kind}${count === 0 ? '' : count + 1}`;
    names.set(key, { name, source });
    return name;
  };
  const root: Record<string, unknown> = {};
  for (const { path, value, source, note } of figures) {
    const keys = path.split('.');
    const last = keys.pop() ?? path;
    let into = root;
    for (const key of keys) into = (into[key] ??= {}) as Record<string, unknown>;
    into[last] = { value, source: nameOf(source), ...(note === undefined ? {} : { note }) };
  }
  const { name, productName, description, measured } = profile;
  const sources = Object.fromEntries([...names.values()].map((each) => [each.name, each.source]));
  return { name, productName, description, measured, sources, ...root };
}
