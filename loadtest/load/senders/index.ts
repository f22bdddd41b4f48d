import type { LoadPlan } from '../loadPlan.js';
import { HttpSender } from './httpSender.js';
import { HTTP_FORMS } from './queryBodies.js';
import type { Sender } from './sender.js';
import { WebSocketSender } from './webSocketSender.js';

export { headersOf, HTTP_FORMS, outcomeOf, type HttpForm } from './queryBodies.js';
export type { LoadAnswer, LoadQuery, Outcome, Prepared, Sender } from './sender.js';

/** @throws ClientError when a WebSocket cannot be opened */
export async function openSender(plan: LoadPlan): Promise<Sender> {
  const { mode } = plan;
  return mode === 'websocket' ? WebSocketSender.open(plan) : new HttpSender(HTTP_FORMS[mode], plan);
}
