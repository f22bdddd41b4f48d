import { describe, expect, it } from 'vitest';
import { commonInputForm, inputClash } from './inputForms.js';

const FORM = { type: 'strings', columns: ['colour', 'size'] } as const;

describe('models of an application that take rows', () => {
  const other = { type: 'strings', columns: ['colour'] } as const;

  it('have the same columns, or take any text', () => {
    expect(inputClash({ name: 'a', form: FORM }, { name: 'b', form: other })).toBe(
      "model 'a' takes the columns colour, size, 'b' of the same application colour",
    );
    expect(inputClash({ name: 'a', form: FORM }, { name: 'b', form: { type: 'strings' } })).toBeUndefined();
    expect(commonInputForm('strings', [{ type: 'strings' }, FORM])).toEqual(FORM);
  });
});
