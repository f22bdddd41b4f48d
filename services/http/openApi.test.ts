import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from './index.js';

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}
interface Operation {
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Record<string, unknown> }> };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content: Record<string, unknown> }
  >;
}

describe('openApiDocument', () => {
  const document = openApiDocument('Title', 'Text', [
    {
      method: 'post',
      path: '/{thing}/act',
      summary: 'Act',
      request: z.strictObject({ n: z.int().min(1), text: z.string().default('x') }),
      answer: z.object({ ok: z.boolean() }),
      errors: ['unknown_model', 'application_exists', 'model_exists'],
    },
    { method: 'get', path: '/plain', summary: 'Plain', answer: { contentType: 'text/plain' } },
    {
      method: 'post',
      path: '/other',
      summary: 'Other',
      parameters: [{ name: 'X-Length', in: 'header', description: 'A length', schema: z.int() }],
      request: z.object({}),
      isBodyOptional: true,
      requestTypes: { 'application/octet-stream': 'Bytes' },
      answer: z.object({}),
      answerTypes: { 'application/octet-stream': 'Bytes' },
      errors: ['unknown_model'],
      errorBody: { name: 'OtherError', schema: z.object({ error: z.string() }) },
    },
  ]) as unknown as Document;

  it('describes parameters, body and answer', () => {
    expect(document.openapi).toBe('3.1.0');
    const operation = document.paths['/{thing}/act'].post;
    expect(operation.parameters).toEqual([
      { name: 'thing', in: 'path', required: true, schema: { type: 'string' } },
    ]);
    expect(operation.requestBody?.content['application/json'].schema).toMatchObject({
      type: 'object',
      required: ['n'],
      additionalProperties: false,
      properties: { n: { type: 'integer', minimum: 1 } },
    });
    expect(document.paths['/plain'].get.responses['200'].content).toEqual({
      'text/plain': { schema: { type: 'string' } },
    });
  });

  it('describes other content types, parameters and errors where a route has them', () => {
    const { parameters, requestBody, responses } = document.paths['/other'].post;
    expect(parameters).toEqual([
      {
        name: 'X-Length',
        in: 'header',
        description: 'A length',
        required: false,
        schema: expect.objectContaining({ type: 'integer' }) as unknown,
      },
    ]);
    expect(requestBody).toMatchObject({ required: false });
    const bytes = { 'application/octet-stream': { schema: { description: 'Bytes' } } };
    expect(requestBody?.content).toMatchObject(bytes);
    expect(responses['200'].content).toMatchObject(bytes);
    expect(responses['404'].content).toEqual({
      'application/json': { schema: { $ref: '#/components/schemas/OtherError' } },
    });
    expect(document.components.schemas.OtherError).toMatchObject({ required: ['error'] });
  });

  it('lists each error under its status, with a schema that is there', () => {
    const { responses } = document.paths['/{thing}/act'].post;
    expect(responses['404'].description).toBe('unknown_model');
    expect(responses['409'].description).toBe('application_exists, model_exists');
    expect(responses['400'].description).toContain('not_json');
    expect(Object.keys(responses)).toEqual(['200', '400', '404', '409', '413', '415']);
    for (const [, pointer] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = pointer
        .split('/')
        .reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], document);
      expect(target, pointer).toBeDefined();
    }
  });
});
