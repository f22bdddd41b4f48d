/**
 * Whether a handshake may go on. Browsers let any page open a WebSocket to any server, and say which page it is; what is
 * no browser says nothing.
 * @param allowed origins (`https://host:port`) that may beside the server's own; `*` lets all in
 */
export function originAllowed(
  origin: string | undefined,
  host: string | undefined,
  allowed: readonly string[],
): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return true;
  if (!URL.canParse(origin)) return false;
  // The scheme is left open: a proxy may speak TLS in front of this server.
  return host !== undefined && new URL(origin).host === host.toLowerCase();
}
