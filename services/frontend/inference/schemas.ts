import { z } from 'zod';
import { DATATYPES } from './datatypes.js';

/** Every error of the protocol has this body. */
export const inferenceErrorSchema = z
  .strictObject({ error: z.string() })
  .meta({ description: 'Every error below /v2 has this body' });

const parameters = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .describe('Come back as they are');

const shape = z.array(z.int()).min(1).max(8);

const tensorData = z
  .array(z.unknown())
  .describe('Elements, flat in row-major order or nested as the shape says');

export const inferRequestSchema = z.object({
  id: z.string().max(256).optional().describe('Comes back with the answer'),
  parameters: parameters
    .optional()
    .describe(
      'timeout: microseconds that the answer may take; priority: 1, most urgent, to 5; binary_data_output: every output as binary data; features.NAME: a finite number that the policy of an application may choose by; others come back as they are',
    ),
  inputs: z.array(
    z.object({
      name: z.string(),
      datatype: z.enum(DATATYPES),
      shape: shape.describe('Each row of the first dimension is one input'),
      parameters: parameters
        .optional()
        .describe('binary_data_size in place of data; content_type: "base64" for bytes sent as BYTES'),
      data: tensorData.optional(),
    }),
  ),
  outputs: z
    .array(
      z.object({
        name: z.string(),
        parameters: parameters
          .optional()
          .describe('binary_data: as binary data; classification: so many classes with the highest values'),
      }),
    )
    .optional()
    .describe('Outputs to answer, in this order; all unless given'),
});

export const inferAnswerSchema = z.strictObject({
  model_name: z.string(),
  model_version: z.string().optional(),
  id: z.string().optional(),
  parameters: parameters.optional(),
  outputs: z.array(
    z.strictObject({
      name: z.string(),
      datatype: z.enum(DATATYPES),
      shape,
      parameters: parameters.optional(),
      data: tensorData.optional().describe('Absent of an output that follows as binary data'),
    }),
  ),
});

export const serverMetadataSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  extensions: z.array(z.string()),
});

export const serverLiveSchema = z.strictObject({ live: z.literal(true) });

export const serverReadySchema = z.strictObject({ ready: z.literal(true) });

export const modelReadySchema = z.strictObject({ name: z.string(), ready: z.literal(true) });

const tensorMetadata = z.strictObject({
  name: z.string(),
  datatype: z.enum(DATATYPES),
  shape: z.array(z.int().min(-1)).describe('-1: any number'),
});

export const modelMetadataSchema = z.strictObject({
  name: z.string(),
  versions: z.array(z.string()).optional().describe('None of an application'),
  platform: z.string(),
  inputs: z.array(tensorMetadata),
  outputs: z.array(tensorMetadata),
});

const tensorConfiguration = z.strictObject({
  name: z.string(),
  data_type: z.string().describe('TYPE_ and the datatype; TYPE_STRING for BYTES'),
  dims: z.array(z.int().min(-1)).describe('Of one row; -1: any number'),
  reshape: z.strictObject({ shape: z.array(z.int()) }).optional(),
});

export const modelConfigurationSchema = z.strictObject({
  name: z.string(),
  platform: z.string(),
  backend: z.string(),
  max_batch_size: z.int().describe('Rows that one request may have'),
  input: z.array(tensorConfiguration),
  output: z.array(tensorConfiguration),
});

export const indexRequestSchema = z.object({
  ready: z.boolean().optional().describe('Only versions that are ready'),
});

export const repositoryIndexSchema = z.array(
  z.strictObject({
    name: z.string(),
    version: z.string(),
    state: z.enum(['READY', 'LOADING', 'UNLOADING', 'UNAVAILABLE']),
    reason: z.string(),
  }),
);

export const repositoryRequestSchema = z.object({
  parameters: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('config and file:… are refused; others are ignored'),
});

export const repositoryAnswerSchema = z.strictObject({});

const duration = z.strictObject({ count: z.int(), ns: z.int() });

const computeStatistics = {
  compute_input: duration,
  compute_infer: duration,
  compute_output: duration,
};

export const statisticsSchema = z.strictObject({
  model_stats: z.array(
    z.strictObject({
      name: z.string(),
      version: z.string(),
      last_inference: z.int().describe('Milliseconds since 1970; 0: none yet'),
      inference_count: z.int(),
      execution_count: z.int(),
      inference_stats: z.strictObject({
        success: duration,
        fail: duration,
        queue: duration,
        ...computeStatistics,
        cache_hit: duration,
        cache_miss: duration,
      }),
      batch_stats: z.array(z.strictObject({ batch_size: z.int(), ...computeStatistics })),
    }),
  ),
});
