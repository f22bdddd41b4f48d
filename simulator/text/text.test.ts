import { describe, expect, it } from 'vitest';
import { escapeMarkup, percent, reasonOf } from './index.js';

describe('escapeMarkup', () => {
  it('shows markup as text, in content and in attributes', () => {
    expect(escapeMarkup(`<b a="1" c='2'>&`)).toBe('&#60;b a=&#34;1&#34; c=&#39;2&#39;&#62;&#38;');
  });

  it('marks what cannot be seen, and keeps tabs and ends of lines', () => {
    expect(escapeMarkup('a\u0000\u202eb\tc\nd')).toBe('a\ufffd\ufffdb\tc\nd');
  });
});

describe('percent', () => {
  it('has one decimal unless asked for more', () => {
    expect([percent(0.1234), percent(-0.5), percent(0.00123, 2)]).toEqual(['12.3 %', '-50.0 %', '0.12 %']);
  });
});

describe('reasonOf', () => {
  it('is what an error says, and of anything else that was thrown its text', () => {
    expect([reasonOf(new RangeError('too far')), reasonOf('gone'), reasonOf(undefined)]).toEqual([
      'too far',
      'gone',
      'undefined',
    ]);
  });
});
