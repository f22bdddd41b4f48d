import type { Option } from 'commander';
import { formOf, keyOf } from './optionForm.js';
import { SECTIONS, type Section } from './settings.js';

/** JSON Schema (2020-12) of configuration files, for editors and other checkers. */
export function configurationSchema(options: Readonly<Record<Section, readonly Option[]>>): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Windjammer configuration',
    ...object(
      SECTIONS.map((section) => [
        section,
        object(options[section].map((option) => [keyOf(option), valueSchema(option)])),
      ]),
    ),
  };
}

function object(properties: readonly (readonly [string, object])[]): object {
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

function valueSchema(option: Option): object {
  const form = formOf(option);
  const description = option.description === '' ? {} : { description: option.description };
  const standard: unknown = option.defaultValue;
  const told = { ...description, ...(standard === undefined ? {} : { default: standard }) };
  switch (form.kind) {
    case 'switch':
      return { type: 'boolean', ...told };
    case 'number':
      return { type: form.isWhole ? 'integer' : 'number', minimum: form.least, maximum: form.most, ...told };
    case 'text':
      return { type: 'string', ...(form.choices === undefined ? {} : { enum: form.choices }), ...told };
    case 'list':
      return { type: ['array', 'string'], items: { type: 'string' }, minItems: 1, ...told };
  }
}
