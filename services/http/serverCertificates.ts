import { Certificates, type CertificateFiles } from './certificates.js';

/** How a server is started, as far as TLS goes. */
export interface TlsSettings {
  readonly query?: CertificateFiles | undefined;
  /** Unless given, those of the query interface. */
  readonly management?: CertificateFiles | undefined;
}

/** The certificates of both interfaces. */
export class ServerCertificates {
  /** undefined: plain HTTP. */
  readonly query: Certificates | undefined;
  readonly management: Certificates | undefined;

  /** @throws TlsError */
  constructor(
    { query, management }: TlsSettings,
    complain: (message: string, details: Readonly<Record<string, unknown>>) => void,
  ) {
    this.query = query && new Certificates(query, complain);
    try {
      this.management =
        management === undefined
          ? this.query
          : new Certificates(management, complain, undefined, '--management-tls-');
    } catch (error) {
      this.query?.close();
      throw error;
    }
  }

  /** Reads every file again. */
  reload(): void {
    for (const one of this.all()) one.reload();
  }

  close(): void {
    for (const one of this.all()) one.close();
  }

  private all(): ReadonlySet<Certificates> {
    return new Set([this.query, this.management].filter((one) => one !== undefined));
  }
}
