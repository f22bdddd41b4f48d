/** What a verb of the management interface has refused, in its words. */
export class VerbError extends Error {
  override readonly name = 'VerbError';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** @throws VerbError, and what the browser says when nobody answers (as rejections) */
export async function callVerb(verb: string, body: object): Promise<unknown> {
  const response = await fetch(`/admin/${verb}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.ok)
    return response.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : text;
  const { error } = JSON.parse(text) as {
    readonly error: { readonly code: string; readonly message: string };
  };
  throw new VerbError(error.code, error.message);
}
