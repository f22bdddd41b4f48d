import { describe, expect, it } from 'vitest';
import { PROFILE_NAMES, cardNamed } from './index.js';

describe.each(PROFILE_NAMES)('card %s', (name) => {
  const { profile, figures } = cardNamed(name);

  it('has a source for every figure', () => {
    expect(figures.length).toBeGreaterThan(100);
    for (const { path, source } of figures) expect(source.text, path).not.toBe('');
  });

  it('says measured only when its timing was', () => {
    const timing = figures.filter(({ path }) => path.startsWith('timing.'));
    const known = timing.filter(({ source }) => source.kind === 'measured' || source.kind === 'fitted');
    if (profile.measured) expect(known.length).toBeGreaterThan(timing.length / 2);
    else expect(known).toEqual([]);
  });
});
