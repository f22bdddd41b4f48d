import { createSecureContext } from 'node:tls';
import { readPemFile } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { RedisError } from './redisError.js';

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** With what TLS is spoken: undefined parts are as Node has them. */
export interface RedisTls {
  /** PEM: the authorities that may have signed the certificate of Redis, in place of those that Node trusts. */
  readonly ca?: string;
  /** PEM: who we are, where Redis asks for it (`tls-auth-clients`). */
  readonly cert?: string;
  readonly key?: string;
}

interface Common {
  /** Undefined: it is spoken in the clear. */
  readonly tls: RedisTls | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** Where a Redis is, and as whom to use it. */
export type RedisAddress =
  | (Common & { readonly kind: 'single'; readonly host: RedisHost; readonly db: number })
  | (Common & {
      readonly kind: 'sentinel';
      readonly hosts: readonly RedisHost[];
      /** The name under which the sentinels watch it. */
      readonly master: string;
      readonly db: number;
    })
  | (Common & { readonly kind: 'cluster'; readonly hosts: readonly RedisHost[] });

const FORMS =
  'redis://[USER:PASSWORD@]HOST[:PORT][/DB], rediss://…[?ca=FILE&cert=FILE&key=FILE] for TLS, redis+sentinel://HOST[:PORT],…/MASTER[/DB], redis+cluster://HOST[:PORT],…';

const SHAPE = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/?]*)@)?([^@/?]+)((?:\/[^/?]*)*)(?:\?(.*))?$/;

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/**
 * The files of TLS that it names are read here.
 * @param environmentPassword used where the address has none: an address shows in the list of processes
 * @throws RedisError `invalidAddress`; its message never has the password
 */
export function redisAddress(text: string, environmentPassword?: string): RedisAddress {
  const match = SHAPE.exec(text);
  if (match === null) throw invalid(`this is no address of a Redis; the forms are ${FORMS}`);
  const [, scheme, kind, login, hostList, pathText, query] = match;
  const path = pathText
    .split('/')
    .slice(1)
    .filter((part) => part !== '');
  const defaultPort = kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT;
  const hosts = hostList.split(',').map((one) => hostOf(one, defaultPort));
  const common = { tls: tlsOf(scheme === 'rediss', query), ...loginOf(login, environmentPassword) };
  switch (kind) {
    case 'cluster':
      if (path.length > 0)
        throw invalid('a Redis Cluster has one database: leave out what follows the hosts');
      return { kind, hosts, ...common };
    case 'sentinel': {
      if (path.length < 1 || path.length > 2) {
        throw invalid('name what the sentinels watch: redis+sentinel://HOST[:PORT],…/MASTER[/DB]');
      }
      return { kind, hosts, master: decoded(path[0]), db: dbOf(path.at(1)), ...common };
    }
    default:
      if (hosts.length > 1) {
        throw invalid('several hosts are redis+sentinel://…/MASTER or redis+cluster://…');
      }
      if (path.length > 1) throw invalid(`a path is the number of a database: ${FORMS}`);
      return { kind: 'single', host: hosts[0], db: dbOf(path.at(0)), ...common };
  }
}

/** For people and logs: without user and password. */
export function addressText(address: RedisAddress): string {
  const hostText = ({ host, port }: RedisHost) => `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const scheme = address.tls === undefined ? 'redis' : 'rediss';
  switch (address.kind) {
    case 'single':
      return `${scheme}://${hostText(address.host)}/${address.db}`;
    case 'sentinel':
      return `${scheme}+sentinel://${address.hosts.map(hostText).join(',')}/${encodeURIComponent(address.master)}/${address.db}`;
    case 'cluster':
      return `${scheme}+cluster://${address.hosts.map(hostText).join(',')}`;
  }
}

const TLS_FILES = ['ca', 'cert', 'key'] as const satisfies readonly (keyof RedisTls)[];

function tlsOf(isSpoken: boolean, query: string | undefined): RedisTls | undefined {
  const named = [...new URLSearchParams(query)];
  if (!isSpoken) {
    if (named.length > 0) throw invalid(`'?${named[0][0]}' belongs to TLS: write rediss://`);
    return undefined;
  }
  const tls: { -readonly [Part in keyof RedisTls]: RedisTls[Part] } = {};
  for (const [name, file] of named) {
    const part = TLS_FILES.find((one) => one === name);
    if (part === undefined)
      throw invalid(`'?${name}' is none of ?${TLS_FILES.join(', ')}, each with a file of PEM`);
    if (tls[part] !== undefined) throw invalid(`'${part}' is there twice`);
    tls[part] = pemOf(part, file);
  }
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    throw invalid('a certificate goes with its key: give both, ?cert=FILE&key=FILE');
  }
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw invalid(`its files of TLS do not go together, or are damaged: ${reasonOf(cause)}`, cause);
  }
  return tls;
}

function pemOf(part: keyof RedisTls, file: string): string {
  let text: string;
  try {
    text = readPemFile(file);
  } catch (cause) {
    throw invalid(`'${part}' cannot be read: ${reasonOf(cause)}`, cause);
  }
  // Node takes an authority without any certificate, and then trusts nobody.
  const kind = part === 'key' ? 'PRIVATE KEY' : 'CERTIFICATE';
  if (!text.includes(`${kind}-----`))
    throw invalid(`'${part}': ${file} has no PEM of a ${kind.toLowerCase()}`);
  return text;
}

function loginOf(login: string | undefined, environmentPassword: string | undefined): Partial<Common> {
  const fallback = environmentPassword === undefined ? {} : { password: environmentPassword };
  if (login === undefined || login === '') return fallback;
  const colon = login.indexOf(':');
  const username = decoded(colon === -1 ? login : login.slice(0, colon));
  const password = colon === -1 ? environmentPassword : decoded(login.slice(colon + 1));
  return {
    ...(username === '' ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

function hostOf(text: string, defaultPort: number): RedisHost {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  if (match === null) throw invalid(`'${text}' is no HOST[:PORT]; an IPv6 address stands in brackets`);
  const port = match[3] === undefined ? defaultPort : Number(match[3]);
  if (port < 1 || port > 65_535) throw invalid(`a port is 1 to 65535, not ${port}`);
  return { host: match[1] ?? match[2], port };
}

function dbOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d{1,5}$/.test(text)) throw invalid(`a database is a number, not '${text}'`);
  return Number(text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw invalid('a part of it is not percent-encoded UTF-8: write % as %25, @ as %40, : as %3A', cause);
  }
}

function invalid(reason: string, cause?: unknown): RedisError {
  return new RedisError('invalidAddress', reason, { cause });
}
