import { missingSchema } from './missing.js';
import { z } from 'zod';
import { errorBodySchema, type OpenApiOperation } from '../http/index.js';
import { INFERENCE_OPERATIONS } from './inference/index.js';
import { FAULT_CAUSES } from '../store/index.js';
import { OCTET_PARAMETER_NAMES } from './octetStream.js';
import { STRICT_HEADER } from './queryHeaders.js';
import { SCHEDULING_HEADERS } from './schedulingHeaders.js';
import {
  predictFields,
  predictionSchema,
  predictRequestSchema,
  updateAnswerSchema,
  updateRequestSchema,
} from './schemas.js';

const INPUT_ERRORS = [
  'empty_input',
  'wrong_length',
  'number_out_of_range',
  'invalid_base64',
  'invalid_input',
  'conflicting_fields',
  'unknown_application',
  'method_not_allowed',
  'shutting_down',
] as const;

/** Beside what the body says, which goes before the headers. */
const QUERY_HEADERS = [
  {
    name: STRICT_HEADER,
    in: 'header',
    description: 'Answer errors in place of default outputs; unless given, as the application says',
    schema: z.enum(['true', 'false']),
  },
  ...SCHEDULING_HEADERS,
] as const satisfies OpenApiOperation['parameters'];

/** Of a body of bytes, which has no fields. */
const OCTET_PARAMETERS = OCTET_PARAMETER_NAMES.map((name) => ({
  name,
  in: 'query' as const,
  description: 'The field of that name, for a body of application/octet-stream',
  schema: name === 'votes' ? z.boolean() : predictFields[name],
}));

const predictAnswer = z.union([
  predictionSchema,
  z.object({
    batch_predictions: z
      .array(z.union([predictionSchema, errorBodySchema]))
      .describe(
        'One for each input, in order; an input that failed has its error here and disturbs no other',
      ),
  }),
]);

/** @param maxBatchInputs that a client's batch may have */
export function queryOperations(maxBatchInputs: number): readonly OpenApiOperation[] {
  return [
    {
      method: 'post',
      path: '/{application}/predict',
      scope: 'predict',
      summary: 'Ask for one prediction (input) or several (input_batch)',
      request: predictRequestSchema(maxBatchInputs),
      requestTypes: {
        'application/octet-stream':
          'One input as its bytes: little-endian elements of the input type of the application, UTF-8 for strings',
      },
      parameters: [...QUERY_HEADERS, ...OCTET_PARAMETERS],
      answer: predictAnswer,
      errors: [
        ...INPUT_ERRORS,
        'empty_batch',
        'batch_too_large',
        'unknown_version',
        'default_deadline',
        'default_unavailable',
        'default_model_error',
        'default_low_confidence',
      ],
    },
    {
      method: 'post',
      path: '/{application}/update',
      scope: 'feedback',
      summary: 'Tell the true output of a query, so that selection learns',
      request: updateRequestSchema,
      answer: updateAnswerSchema,
      errors: [...INPUT_ERRORS, 'unknown_query', 'default_unavailable'],
    },
    {
      method: 'get',
      path: '/metrics',
      scope: 'metrics',
      summary:
        'Metrics in the Prometheus text format, or in OpenMetrics with exemplars where that is accepted',
      answer: { contentType: 'text/plain' },
    },
    {
      method: 'get',
      path: '/healthz',
      summary: 'The process is alive',
      answer: z.object({ status: z.literal('ok') }),
    },
    {
      method: 'get',
      path: '/readyz',
      summary:
        'The server takes queries, and what it lacks, by name; 503 while it starts and while it drains',
      answer: z.object({
        status: z.literal('ready'),
        store: z
          .object({ status: z.literal('failing'), cause: z.enum(FAULT_CAUSES), message: z.string() })
          .optional()
          .describe('Only while changes and feedback are not kept: why'),
        missing: missingSchema
          .array()
          .optional()
          .describe('Only where something is; without names of models and nodes where keys are required'),
      }),
      errors: ['not_ready'],
    },
    {
      method: 'get',
      path: '/openapi.json',
      summary: 'This document',
      answer: z.record(z.string(), z.unknown()),
    },
    ...INFERENCE_OPERATIONS,
  ];
}
