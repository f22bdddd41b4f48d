import { LinkError } from './linkError.js';

/** Where a node is dialled. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** That it is to have; any when undefined. */
  readonly name?: string;
}

/** @param text `tcp://HOST:PORT` or `tls://HOST:PORT`, with `NAME@` before the host where it is to have that name. @throws LinkError `address` */
export function readNodeAddress(text: string): NodeAddress {
  const refuse = (): never => {
    throw new LinkError(
      'address',
      `'${text}' is no address of a node: tcp://HOST:PORT, tls://HOST:PORT or tcp://NAME@HOST:PORT is`,
    );
  };
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return refuse();
  }
  const { protocol, username, password, hostname, port, pathname, search, hash } = url;
  const isPlain = password === '' && ['', '/'].includes(pathname) && search === '' && hash === '';
  if (!['tcp:', 'tls:'].includes(protocol) || hostname === '' || port === '' || port === '0' || !isPlain)
    return refuse();
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port),
    isSecure: protocol === 'tls:',
    ...(username === '' ? {} : { name: decodeURIComponent(username) }),
  };
}

/** For people. */
export function addressText({ host, port, isSecure }: NodeAddress): string {
  return `${isSecure ? 'tls' : 'tcp'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
