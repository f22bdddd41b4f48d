import { z } from 'zod';
import { LAUNCH_CLASSES } from '../../containers/protocol/index.js';
import type { OpenApiParameter } from '../http/index.js';
import { CLASS_HEADER, GRPC_TIMEOUT_HEADER, PRIORITY_HEADER, TIMEOUT_HEADER } from './queryHeaders.js';
import { LOWEST_PRIORITY } from './schemas.js';

/** How urgent the queries of a request are and when they are due, for the OpenAPI document. */
export const SCHEDULING_HEADERS: readonly OpenApiParameter[] = [
  {
    name: PRIORITY_HEADER,
    in: 'header',
    description: '1 is the most urgent; 3 unless given',
    schema: z.int().min(1).max(LOWEST_PRIORITY),
  },
  {
    name: CLASS_HEADER,
    in: 'header',
    description:
      "How much the kernels that compute the answers may be made to wait by others on their GPU: the application's class, or a lower one",
    schema: z.enum(LAUNCH_CLASSES),
  },
  {
    name: TIMEOUT_HEADER,
    in: 'header',
    description:
      'When the answer is due, in milliseconds from the arrival of the headers; the shortest limit counts',
    schema: z.int().min(1),
  },
  {
    name: GRPC_TIMEOUT_HEADER,
    in: 'header',
    description: 'The same as gRPC writes it, such as 100m for 100 milliseconds',
    schema: z.string().regex(/^\d{1,8}[HMSmun]$/),
  },
];
