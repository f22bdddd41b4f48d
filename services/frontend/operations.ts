import { z } from 'zod';
import type { OpenApiOperation } from '../http/index.js';
import { INFERENCE_OPERATIONS } from './inference/index.js';
import {
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

const predictAnswer = z.union([
  predictionSchema,
  z.object({
    batch_predictions: z
      .array(
        z.union([predictionSchema, z.object({ error: z.object({ code: z.string(), message: z.string() }) })]),
      )
      .describe(
        'One for each input, in order; an input that failed has its error here and disturbs no other',
      ),
  }),
]);

export const QUERY_OPERATIONS: readonly OpenApiOperation[] = [
  {
    method: 'post',
    path: '/{application}/predict',
    summary: 'Ask for one prediction (input) or several (input_batch)',
    request: predictRequestSchema,
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
    summary: 'Tell the true output of a query, so that selection learns',
    request: updateRequestSchema,
    answer: updateAnswerSchema,
    errors: [...INPUT_ERRORS, 'unknown_query', 'default_unavailable'],
  },
  {
    method: 'get',
    path: '/metrics',
    summary: 'Metrics in the Prometheus text format',
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
    summary: 'The server takes queries; 503 while it starts and while it drains',
    answer: z.object({ status: z.literal('ready') }),
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
