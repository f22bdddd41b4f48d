/** How a client shows who it is, and whom it trusts. */
export interface ConnectionOptions {
  /** Shown with every request, where the server requires one. */
  readonly apiKey?: string | undefined;
  /** PEM of authorities whose certificates are trusted, in place of the well-known ones. */
  readonly ca?: string | undefined;
  /** PEM of the client's own certificate and its key, where the server asks for one. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

const KEY_CHARACTERS = /^[\x21-\x7e]+$/;

/** Headers that show the key. @throws TypeError, without the key in it, when it has what no key has */
export function keyHeaders({ apiKey }: ConnectionOptions): Record<string, string> {
  if (apiKey === undefined) return {};
  if (!KEY_CHARACTERS.test(apiKey))
    throw new TypeError('the API key is empty, or has white space or other characters that no key has');
  return { authorization: `Bearer ${apiKey}` };
}
