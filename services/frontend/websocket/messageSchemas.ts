import { z } from 'zod';
import { errorBodySchema } from '../../http/index.js';
import { MAX_ID } from '../../wire/index.js';
import { predictFields, predictionSchema, updateAnswerSchema, updateFields } from '../schemas.js';

const id = z.int().min(0).max(MAX_ID).describe('Chosen by the client, unique among its messages in flight');
const application = z.string().describe('The name of an application');
const traceparent = z.string().optional().describe('W3C trace context; a malformed one is ignored');

/** JSON messages of the WebSocket: the bodies of REST, with an id and what the URL says there. Other fields are ignored. */
export const clientMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('predict'), id, application, traceparent, ...predictFields }),
  z.object({ type: z.literal('feedback'), id, application, ...updateFields }),
  z.object({ type: z.literal('cancel'), id }),
]);

export const serverMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('prediction'), id, ...predictionSchema.shape }),
  z.object({ type: z.literal('feedback'), id, ...updateAnswerSchema.shape }),
  z.object({
    type: z.literal('error'),
    id: id.nullable().describe('null: the message had none that could be read'),
    status: z.int().describe('The status that REST answers with'),
    error: errorBodySchema.shape.error,
  }),
]);
