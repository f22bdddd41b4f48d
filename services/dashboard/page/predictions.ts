/** What one linked model says. */
export interface Vote {
  readonly name: string;
  readonly version: string;
  readonly output?: unknown;
  readonly scores?: readonly (number | null)[];
  readonly missing?: string;
}

export interface Prediction {
  readonly query_id: string;
  readonly output: unknown;
  readonly default: boolean;
  readonly default_explanation?: string;
  readonly confidence: number;
  readonly models: readonly { readonly name: string; readonly version: string }[];
  readonly votes: readonly Vote[];
}

/** @throws Error with the server's own words, or the network's. */
export async function predict(application: string, input: readonly number[]): Promise<Prediction> {
  return (await post(application, 'predict', { input, votes: true })) as Prediction;
}

/** Tells what the input of a query was. @throws Error with the server's own words, or the network's. */
export async function judge(application: string, queryId: string, label: number): Promise<void> {
  await post(application, 'update', { query_id: queryId, label });
}

async function post(application: string, verb: string, body: unknown): Promise<unknown> {
  const response = await fetch(`/${encodeURIComponent(application)}/${verb}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(messageOf(answer) ?? `the server answered ${response.status}`);
  return answer;
}

function messageOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return undefined;
  const { error } = answer;
  if (typeof error !== 'object' || error === null || !('message' in error)) return undefined;
  return typeof error.message === 'string' ? error.message : undefined;
}
