import { z } from 'zod';
import { ERROR_CATALOGUE, ERROR_CODES, type ErrorCode } from '../errors/index.js';
import { accessErrors, SECURITY_SCHEMES, securityOf } from './openApiSecurity.js';

/** One route with one method, as `/openapi.json` shows it. */
export interface OpenApiOperation {
  readonly method: 'get' | 'post' | 'delete';
  /** With parameters in braces: `/{application}/predict`. */
  readonly path: string;
  readonly summary: string;
  /** What a key must be allowed, where keys are required; undefined: anybody may ask. */
  readonly scope?: string;
  readonly request?: z.ZodType;
  /** The request may come without a body. */
  readonly isBodyOptional?: true;
  /** Other content types that the request may have than JSON, with what they carry. */
  readonly requestTypes?: Readonly<Record<string, string>>;
  /** Parameters beside those of the path. */
  readonly parameters?: readonly OpenApiParameter[];
  /** The answer with status 200: a schema of JSON, or the content type of something else. */
  readonly answer: z.ZodType | { readonly contentType: string };
  /** Other content types that the answer may have, with what they carry. */
  readonly answerTypes?: Readonly<Record<string, string>>;
  /** The body of errors, where it is another one than `errorBodySchema`. */
  readonly errorBody?: ErrorBodyShape;
  /** Errors special to the route; those that any route answers with are added. */
  readonly errors?: readonly ErrorCode[];
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'header' | 'query';
  readonly description: string;
  readonly schema: z.ZodType;
}

/** Named in the document's components. */
export interface ErrorBodyShape {
  readonly name: string;
  readonly schema: z.ZodType;
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
      retry_after_ms: z
        .int()
        .optional()
        .describe('When another try is worth it; Retry-After says the same in whole seconds'),
    }),
  })
  .meta({ description: 'Every error has this body' });

const DEFAULT_ERROR_BODY: ErrorBodyShape = { name: 'Error', schema: errorBodySchema };

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
  requiresKeys = false,
): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const errorBodies = new Map([[DEFAULT_ERROR_BODY.name, DEFAULT_ERROR_BODY.schema]]);
  for (const operation of operations) {
    const { name, schema } = operation.errorBody ?? DEFAULT_ERROR_BODY;
    errorBodies.set(name, schema);
    (paths[operation.path] ??= {})[operation.method] = describeOperation(operation, requiresKeys);
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '1', description },
    paths,
    components: {
      ...(requiresKeys ? { securitySchemes: SECURITY_SCHEMES } : {}),
      schemas: {
        ...Object.fromEntries([...errorBodies].map(([name, schema]) => [name, jsonSchema(schema, 'output')])),
        ...Object.fromEntries(
          Object.entries(messages).map(([name, { schema, io }]) => [name, jsonSchema(schema, io)]),
        ),
      },
    },
  };
}

function describeOperation(operation: OpenApiOperation, requiresKeys: boolean): Record<string, unknown> {
  const scope = requiresKeys ? operation.scope : undefined;
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const beside = (operation.parameters ?? []).map((parameter) => ({
    ...parameter,
    required: false,
    schema: jsonSchema(parameter.schema, 'input'),
  }));
  const parameters = [...inPath, ...beside];
  const { request, isBodyOptional, requestTypes, answerTypes, errorBody = DEFAULT_ERROR_BODY } = operation;
  const errors: readonly ErrorCode[] = [
    ...(request === undefined ? [] : ERRORS_OF_ANY_BODY),
    ...(operation.errors ?? []),
    ...accessErrors(scope),
  ];
  return {
    summary: operation.summary,
    ...(requiresKeys ? { security: securityOf(scope) } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(request === undefined && requestTypes === undefined
      ? {}
      : {
          requestBody: {
            required: isBodyOptional !== true,
            content: {
              ...(request === undefined
                ? {}
                : { 'application/json': { schema: jsonSchema(request, 'input') } }),
              ...otherContents(requestTypes),
            },
          },
        }),
    responses: { '200': answer(operation.answer, answerTypes), ...errorResponses(errors, errorBody) },
  };
}

function otherContents(types: Readonly<Record<string, string>> = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(types).map(([type, description]) => [type, { schema: { description } }]),
  );
}

function answer(
  of: OpenApiOperation['answer'],
  others: OpenApiOperation['answerTypes'],
): Record<string, unknown> {
  const content =
    of instanceof z.ZodType
      ? { 'application/json': { schema: jsonSchema(of, 'output') } }
      : { [of.contentType]: { schema: { type: 'string' } } };
  return { description: 'Success', content: { ...content, ...otherContents(others) } };
}

function errorResponses(codes: readonly ErrorCode[], { name }: ErrorBodyShape): Record<string, unknown> {
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
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
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
