import type { AccessSettings } from '../access/index.js';
import type { CertificateFiles, TlsSettings } from '../http/index.js';
import { CommandError } from './commandError.js';
import { optionText } from './optionFile.js';

/** Options of `serve` about who comes in, and how. */
export interface ServeSecurityOptions {
  readonly requireKeys?: true;
  readonly adminKeyFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly managementTlsCert?: string;
  readonly managementTlsKey?: string;
  readonly managementTlsCa?: string;
  readonly maxConnections: number;
  readonly maxWebsockets: number;
}

/** The admin key comes from a file, as orchestrators mount secrets, or from the environment. @throws CommandError */
export function accessSettings(
  { requireKeys, adminKeyFile }: ServeSecurityOptions,
  environment: Readonly<Record<string, string | undefined>>,
): AccessSettings {
  const fromEnvironment = environment.WINDJAMMER_ADMIN_KEY;
  // Set and empty is a mistake: nobody is to believe that there is a key.
  const adminKey =
    adminKeyFile === undefined
      ? fromEnvironment?.trim()
      : optionText('--admin-key-file', adminKeyFile).trim();
  return { required: requireKeys === true, adminKey };
}

/** @throws CommandError when a certificate has no key, or the other way round */
export function tlsSettings(options: ServeSecurityOptions): TlsSettings {
  const { tlsCert, tlsKey, tlsCa, managementTlsCert, managementTlsKey, managementTlsCa } = options;
  return {
    query: files('--', tlsCert, tlsKey, tlsCa),
    management: files('--management-', managementTlsCert, managementTlsKey, managementTlsCa),
  };
}

function files(
  prefix: string,
  cert: string | undefined,
  key: string | undefined,
  ca: string | undefined,
): CertificateFiles | undefined {
  if (cert !== undefined && key !== undefined) return { cert, key, ...(ca === undefined ? {} : { ca }) };
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  throw new CommandError(
    `${prefix}tls-cert and ${prefix}tls-key go together${ca === undefined ? '' : `, and ${prefix}tls-ca needs both`}`,
  );
}
