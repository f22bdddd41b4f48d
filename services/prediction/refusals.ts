import type { LaunchClass } from '../../containers/protocol/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { isAbove, PRIORITIES } from '../batching/index.js';
import type { PredictionFailure } from '../cache/index.js';
import type { ServedModel } from './servedModel.js';
import type { ModelRequest, QueryRefusal } from './types.js';

export const SHUTTING_DOWN: QueryRefusal = {
  code: 'shutting_down',
  message: 'the server is shutting down: ask another one',
};

export function unknownApplication(name: string): QueryRefusal {
  return { code: 'unknown_application', field: 'application', message: `there is no application '${name}'` };
}

export function unknownModel({ model, version }: ModelRequest): QueryRefusal {
  return {
    code: 'unknown_version',
    field: 'version',
    message: `model '${model}' has no version '${version}'`,
  };
}

export function unknownQuery(queryId: string | undefined): QueryRefusal {
  const message =
    queryId === undefined
      ? 'feedback needs the id of the query that it judges, or an input'
      : `query '${queryId}' is not remembered: give its input with the feedback`;
  return { code: 'unknown_query', field: 'query_id', message };
}

/** What a replica says of an input, which nobody knew before it was asked. */
export function invalidInput({ record }: ServedModel, { message }: PredictionFailure): QueryRefusal {
  return { code: 'invalid_input', field: 'input', message: `model '${record.name}': ${message}` };
}

export function badContext(error: unknown): QueryRefusal {
  const message = reasonOf(error);
  return { code: 'invalid_input', field: 'context', message };
}

/** What is wrong with a priority, or undefined. */
export function priorityRefusal(priority: number | undefined): QueryRefusal | undefined {
  if (priority === undefined || PRIORITIES.some((level) => level === priority)) return undefined;
  const message = `the priority must be a whole number from 1 (most urgent) to 5, not ${priority}`;
  return { code: 'invalid_input', field: 'priority', message };
}

/** What is wrong with the class that somebody wants for a query: whoever registered its application, or its model, said the highest. */
export function classRefusal(
  wanted: LaunchClass | undefined,
  highest: LaunchClass,
): QueryRefusal | undefined {
  if (wanted === undefined || !isAbove(wanted, highest)) return undefined;
  const message = `launch_class '${wanted}' is above '${highest}', which is the highest here: leave it out, or give a lower one`;
  return { code: 'invalid_input', field: 'launch_class', message };
}
