const VALID = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The header when it is a W3C trace context of version 00, otherwise undefined: a malformed one is ignored. */
export function validTraceparent(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string' || header.length !== 55 || !VALID.test(header)) return undefined;
  if (!header.startsWith('00-')) return undefined;
  if (header.startsWith('00-00000000000000000000000000000000')) return undefined;
  return header.slice(36, 52) === '0000000000000000' ? undefined : header;
}
