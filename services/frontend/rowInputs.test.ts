import { describe, expect, it } from 'vitest';
import { ServiceError } from '../errors/index.js';
import { encodeInput } from './inputs.js';

const FORM = { type: 'strings', columns: ['colour', 'size'] } as const;

function textOf(input: unknown): string {
  const bytes = encodeInput(FORM, input, 'input');
  if (bytes instanceof ServiceError) throw bytes;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

describe('rows of columns', () => {
  it.each<[unknown, string]>([
    [['rot', 1.5], '["rot",1.5]'],
    [{ size: null, colour: 'très vert' }, '["très vert",null]'],
    [[true, ''], '[true,""]'],
    ['["rot",1]', '["rot",1]'],
    [{ b64: Buffer.from('["rot",1]').toString('base64') }, '["rot",1]'],
  ])('%j is the text %s', (input, text) => {
    expect(textOf(input)).toBe(text);
  });

  it.each<[string, unknown, string, string]>([
    ['too few values', ['rot'], 'wrong_length', 'input'],
    ['a list in it', ['rot', [1]], 'wrong_type', 'input[1]'],
    ['an infinity', ['rot', Infinity], 'wrong_type', 'input[1]'],
    ['an unknown column', { colour: 'rot', size: 1, weight: 2 }, 'invalid_value', 'input'],
    ['a column too few', { colour: 'rot' }, 'missing_field', 'input'],
    ['a number', 7, 'wrong_type', 'input'],
  ])('%s is refused', (_what, input, code, field) => {
    const error = encodeInput(FORM, input, 'input');
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code, field });
  });

  it('names columns and those that there are', () => {
    expect(() => textOf({ colour: 'rot', weight: 1 })).toThrow(
      "input: the model needs a value for the column 'size'; its columns are colour, size",
    );
    expect(() => textOf({ colour: 'rot', size: 1, weight: 1 })).toThrow(
      "input: the model has no column 'weight'",
    );
  });

  it('are no input of a model that takes one text', () => {
    expect(encodeInput({ type: 'strings' }, ['rot', 1], 'input')).toMatchObject({ code: 'wrong_type' });
  });
});
