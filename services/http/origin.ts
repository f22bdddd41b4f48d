import type { AddressInfo } from 'node:net';

/** Where a server listens, as clients name it. */
export function originOf({ address, port, family }: AddressInfo, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
