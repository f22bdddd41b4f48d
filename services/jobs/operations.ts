import { z } from 'zod';
import { LAUNCH_CLASSES } from '../../containers/protocol/index.js';
import type { OpenApiOperation } from '../http/index.js';
import { JOB_STATES } from './job.js';
import { JOB_TYPES } from './jobRoutes.js';

const jobSchema = z.object({
  job_id: z.string(),
  application: z.string(),
  launch_class: z.enum(LAUNCH_CLASSES),
  state: z.enum(JOB_STATES),
  lines: z.int().describe('That ask for something'),
  answered: z.int().describe('Lines whose prediction or error is kept'),
  failed: z.int().describe('Those of them that have an error'),
  input_bytes: z.int(),
  created: z.iso.datetime(),
});

const unreadableSchema = z.object({ job_id: z.string(), reason: z.string() });

const INPUT = 'Lines of JSON: an input each, or a request with input, as for predict';

/** For the document of the query interface. */
export const JOB_OPERATIONS: readonly OpenApiOperation[] = [
  {
    method: 'post',
    path: '/jobs',
    scope: 'predict',
    summary: 'Ask for predictions of many lines, as work that waits for room',
    requestTypes: Object.fromEntries(JOB_TYPES.map((type) => [type, INPUT])),
    parameters: [
      { name: 'application', in: 'query', description: 'Required: its name', schema: z.string() },
      {
        name: 'class',
        in: 'query',
        description: 'Of the kernels, unless a line says otherwise; bestEffort unless given',
        schema: z.enum(LAUNCH_CLASSES),
      },
    ],
    answer: jobSchema,
    errors: [
      'missing_field',
      'unknown_application',
      'invalid_value',
      'not_utf8',
      'body_too_large',
      'unsupported_media_type',
      'storage_full',
      'store_failed',
      'redis_away',
    ],
  },
  {
    method: 'get',
    path: '/jobs',
    scope: 'predict',
    summary: 'All jobs and how far they are',
    answer: z.object({
      jobs: z.array(jobSchema),
      unreadable: z
        .array(unreadableSchema)
        .optional()
        .describe('What lies where a job belongs and cannot be read: DELETE removes it'),
    }),
    errors: ['redis_away', 'store_failed'],
  },
  {
    method: 'get',
    path: '/jobs/{id}',
    scope: 'predict',
    summary: 'How far a job is',
    answer: jobSchema,
    errors: ['unknown_job', 'redis_away', 'store_failed'],
  },
  {
    method: 'get',
    path: '/jobs/{id}/results',
    scope: 'predict',
    summary:
      'Results in the order of the lines, as far as there are any: a line of JSON each, with its line and its prediction or error',
    parameters: [
      {
        name: 'follow',
        in: 'query',
        description: 'Go on until the job is over',
        schema: z.enum(['true', 'false']),
      },
    ],
    answer: { contentType: 'application/x-ndjson' },
    errors: ['unknown_job', 'invalid_value', 'redis_away', 'store_failed'],
  },
  {
    method: 'post',
    path: '/jobs/{id}/cancel',
    scope: 'predict',
    summary: 'Ask no further lines of a job; what is answered stays',
    answer: jobSchema,
    errors: ['unknown_job', 'redis_away', 'store_failed'],
  },
  {
    method: 'delete',
    path: '/jobs/{id}',
    scope: 'predict',
    summary: 'Forget a job with its input and results',
    answer: z.union([jobSchema, unreadableSchema]),
    errors: ['unknown_job', 'redis_away', 'store_failed'],
  },
];
