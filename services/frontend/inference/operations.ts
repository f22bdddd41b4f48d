import { z } from 'zod';
import type { ErrorBodyShape, OpenApiOperation } from '../../http/index.js';
import { SCHEDULING_HEADERS } from '../schedulingHeaders.js';
import { OCTET_STREAM } from './inferenceBody.js';
import * as schemas from './schemas.js';

const errorBody: ErrorBodyShape = { name: 'InferenceError', schema: schemas.inferenceErrorSchema };

const BINARY =
  'JSON, and behind it the binary data of tensors; Inference-Header-Content-Length tells where it begins';

const INFER_ERRORS = [
  'unknown_model',
  'empty_input',
  'wrong_length',
  'number_out_of_range',
  'invalid_base64',
  'invalid_input',
  'conflicting_fields',
  'batch_too_large',
  'not_supported',
  'shutting_down',
  'default_deadline',
  'default_unavailable',
  'default_model_error',
  'default_low_confidence',
] as const;

const CHANGE_ERRORS = [
  'unknown_model',
  'not_supported',
  'origin_not_allowed',
  'storage_full',
  'store_failed',
] as const;

/** What loading and unloading have in common. */
const CHANGE = {
  method: 'post',
  scope: 'admin',
  request: schemas.repositoryRequestSchema,
  isBodyOptional: true,
  answer: schemas.repositoryAnswerSchema,
  errorBody,
} as const;

/** The routes of a model, of the current version and of one that the path names. */
function ofModel(
  suffix: string,
  operation: Omit<OpenApiOperation, 'path' | 'errorBody'>,
): OpenApiOperation[] {
  return ['/v2/models/{model}', '/v2/models/{model}/versions/{version}'].map((path) => ({
    ...operation,
    path: `${path}${suffix}`,
    errorBody,
  }));
}

export const INFERENCE_OPERATIONS: readonly OpenApiOperation[] = [
  {
    method: 'get',
    path: '/v2',
    scope: 'predict',
    summary: 'Open Inference Protocol: what the server is, and the extensions that it has',
    answer: schemas.serverMetadataSchema,
    errorBody,
  },
  {
    method: 'get',
    path: '/v2/health/live',
    summary: 'The process is alive',
    answer: schemas.serverLiveSchema,
    errorBody,
  },
  {
    method: 'get',
    path: '/v2/health/ready',
    summary: 'The server takes queries',
    answer: schemas.serverReadySchema,
    errors: ['not_ready'],
    errorBody,
  },
  ...ofModel('', {
    method: 'get',
    scope: 'predict',
    summary: 'Inputs and outputs of a model or application',
    answer: schemas.modelMetadataSchema,
    errors: ['unknown_model'],
  }),
  ...ofModel('/config', {
    method: 'get',
    scope: 'predict',
    summary: "A model's or application's configuration, in Triton's form",
    answer: schemas.modelConfigurationSchema,
    errors: ['unknown_model'],
  }),
  ...ofModel('/ready', {
    method: 'get',
    scope: 'predict',
    summary: 'A model or application has a replica that is up',
    answer: schemas.modelReadySchema,
    errors: ['unknown_model', 'not_ready'],
  }),
  ...ofModel('/infer', {
    method: 'post',
    scope: 'predict',
    summary: 'Ask a model or application; each row of the input is one query',
    parameters: [
      {
        name: 'Inference-Header-Content-Length',
        in: 'header',
        description: 'Bytes of the body that are JSON; what follows is binary data of inputs',
        schema: z.int().min(1),
      },
      ...SCHEDULING_HEADERS,
    ],
    request: schemas.inferRequestSchema,
    requestTypes: { [OCTET_STREAM]: BINARY },
    answer: schemas.inferAnswerSchema,
    answerTypes: { [OCTET_STREAM]: BINARY },
    errors: INFER_ERRORS,
  }),
  {
    method: 'get',
    path: '/v2/models/stats',
    scope: 'metrics',
    summary: 'Statistics of every model version',
    answer: schemas.statisticsSchema,
    errorBody,
  },
  ...ofModel('/stats', {
    method: 'get',
    scope: 'metrics',
    summary: 'Statistics of a model, or of the models of an application',
    answer: schemas.statisticsSchema,
    errors: ['unknown_model'],
  }),
  {
    method: 'post',
    path: '/v2/repository/index',
    scope: 'metrics',
    summary: 'Every registered model version, and whether it is ready',
    request: schemas.indexRequestSchema,
    isBodyOptional: true,
    answer: schemas.repositoryIndexSchema,
    errorBody,
  },
  {
    ...CHANGE,
    path: '/v2/repository/models/{model}/load',
    summary: 'Run the replicas of a model that was unloaded; answered once they are up',
    errors: [...CHANGE_ERRORS, 'insufficient_gpu_memory', 'load_failed'],
  },
  {
    ...CHANGE,
    path: '/v2/repository/models/{model}/unload',
    summary: 'Stop the replicas of a model once they have answered what they have',
    errors: CHANGE_ERRORS,
  },
];
