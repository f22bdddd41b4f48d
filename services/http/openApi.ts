import { z } from 'zod';
import { ERROR_CATALOGUE, ERROR_CODES, type ErrorCode } from '../errors/index.js';

/** One route with one method, as `/openapi.json` shows it. */
export interface OpenApiOperation {
  readonly method: 'get' | 'post';
  /** With parameters in braces: `/{application}/predict`. */
  readonly path: string;
  readonly summary: string;
  readonly request?: z.ZodType;
  /** The answer with status 200: a schema of JSON, or the content type of something else. */
  readonly answer: z.ZodType | { readonly contentType: string };
  /** Errors special to the route; those that any route answers with are added. */
  readonly errors?: readonly ErrorCode[];
}

const ERRORS_OF_ANY_BODY = [
  'not_json',
  'not_utf8',
  'malformed_encoding',
  'missing_field',
  'wrong_type',
  'invalid_value',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

export const errorBodySchema = z
  .object({
    error: z.object({
      code: z.enum(ERROR_CODES),
      message: z.string(),
      field: z.string().optional().describe('The part of the request at fault'),
    }),
  })
  .meta({ description: 'Every error has this body' });

/** What travels beside the routes, which OpenAPI cannot describe: the messages of a WebSocket. */
export interface MessageSchema {
  readonly schema: z.ZodType;
  /** Whether clients write it (input) or read it (output). */
  readonly io: 'input' | 'output';
}

/** An OpenAPI 3.1 document; the schemas are the ones that requests are validated with. */
export function openApiDocument(
  title: string,
  description: string,
  operations: readonly OpenApiOperation[],
  messages: Readonly<Record<string, MessageSchema>> = {},
): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method] = describeOperation(operation);
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '1', description },
    paths,
    components: {
      schemas: {
        Error: jsonSchema(errorBodySchema, 'output'),
        ...Object.fromEntries(
          Object.entries(messages).map(([name, { schema, io }]) => [name, jsonSchema(schema, io)]),
        ),
      },
    },
  };
}

function describeOperation(operation: OpenApiOperation): Record<string, unknown> {
  const parameters = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const { request } = operation;
  const errors: readonly ErrorCode[] = [
    ...(request === undefined ? [] : ERRORS_OF_ANY_BODY),
    ...(operation.errors ?? []),
  ];
  return {
    summary: operation.summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(request === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: jsonSchema(request, 'input') } },
          },
        }),
    responses: { '200': answer(operation.answer), ...errorResponses(errors) },
  };
}

function answer(of: OpenApiOperation['answer']): Record<string, unknown> {
  const content =
    of instanceof z.ZodType
      ? { 'application/json': { schema: jsonSchema(of, 'output') } }
      : { [of.contentType]: { schema: { type: 'string' } } };
  return { description: 'Success', content };
}

function errorResponses(codes: readonly ErrorCode[]): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      String(status),
      {
        description: ofStatus.join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const schemaJson: Record<string, unknown> = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  // OpenAPI 3.1 documents declare their dialect once.
  delete schemaJson.$schema;
  return schemaJson;
}
