import { createPrivateKey, X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import type { SecureContextOptions } from 'node:tls';
import { fileStamp, readPemFile } from '../../simulator/files/index.js';

/** Where the certificate of a server is. */
export interface CertificateFiles {
  /** PEM: the server's own certificate first, then those between it and its authority. */
  readonly cert: string;
  /** PEM, not encrypted. */
  readonly key: string;
  /** PEM; with it every client must show a certificate that one of these authorities has signed. */
  readonly ca?: string;
}

/** A certificate that cannot be served; says which file and what to do about it. */
export class TlsError extends Error {
  override readonly name = 'TlsError';
}

/** Polled, not watched: orchestrators swap a link to a folder, which file events miss. What was there at the last reading is kept here, since a watcher would not know what changed before its first look. */
const POLL_MS = 5_000;

const MIN_VERSION = 'TLSv1.2';

/**
 * What servers speak TLS with. Files that change are read again, and so they are when somebody asks; what cannot be
 * served then is complained about, and the certificate that was there stays.
 */
export class Certificates {
  private loaded: SecureContextOptions;
  private validUntilMs = 0;
  private readonly listeners = new Set<(context: SecureContextOptions) => void>();
  private readonly poll: NodeJS.Timeout;
  /** Of the files, before they were last read. */
  private stamps = '';

  /** @throws TlsError */
  constructor(
    private readonly files: CertificateFiles,
    private readonly complain: (message: string, details: Readonly<Record<string, unknown>>) => void,
    pollMs = POLL_MS,
    /** What options that name the files begin with. */
    private readonly optionPrefix = '--tls-',
  ) {
    this.loaded = this.load();
    this.poll = setInterval(() => {
      if (this.stamps !== this.currentStamps()) this.reload();
    }, pollMs).unref();
  }

  get context(): SecureContextOptions {
    return this.loaded;
  }

  /** When the certificate that is served ends. */
  get endMs(): number {
    return this.validUntilMs;
  }

  /** Whether clients must show a certificate. */
  get asksClients(): boolean {
    return this.files.ca !== undefined;
  }

  /** `listener` is called with every certificate that comes later; returns the unsubscriber. */
  watch(listener: (context: SecureContextOptions) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Reads the files again. Connections that are open keep what they began with. @returns whether it can be served */
  reload(): boolean {
    try {
      this.loaded = this.load();
    } catch (error) {
      if (!(error instanceof TlsError)) throw error;
      this.complain('the new certificate cannot be served; the one before it is', { reason: error.message });
      return false;
    }
    for (const listener of [...this.listeners]) listener(this.loaded);
    return true;
  }

  close(): void {
    clearInterval(this.poll);
    this.listeners.clear();
  }

  private paths(): string[] {
    const { cert, key, ca } = this.files;
    return ca === undefined ? [cert, key] : [cert, key, ca];
  }

  private currentStamps(): string {
    return this.paths().map(stampOf).join();
  }

  private load(): SecureContextOptions {
    const { files } = this;
    this.stamps = this.currentStamps();
    const read = (part: keyof typeof PARTS, file: string) => readPart(file, part, this.optionPrefix);
    const cert = read('cert', files.cert);
    const key = read('key', files.key);
    const ca = files.ca === undefined ? undefined : read('ca', files.ca);
    const certificate = parseCertificate(cert, files.cert);
    if (ca !== undefined && files.ca !== undefined) parseCertificate(ca, files.ca);
    if (!certificate.checkPrivateKey(parseKey(key, files.key))) {
      throw new TlsError(
        `the key in ${files.key} is not that of the certificate in ${files.cert}; give the key that the certificate was ` +
          'made for, and the certificate of the server first in its file',
      );
    }
    this.checkDates(certificate);
    this.validUntilMs = Date.parse(certificate.validTo);
    return { cert, key, ca, minVersion: MIN_VERSION };
  }

  /** Served all the same: a client may be set not to mind, and a server that is down helps nobody. */
  private checkDates({ validFrom, validTo }: X509Certificate): void {
    const file = this.files.cert;
    const nowMs = Date.now();
    if (Date.parse(validTo) <= nowMs)
      this.complain('the certificate has expired; clients will refuse it', { file, validTo });
    else if (Date.parse(validFrom) > nowMs)
      this.complain('the certificate is not valid yet; clients will refuse it', { file, validFrom });
  }
}

function stampOf(file: string): string {
  try {
    return fileStamp(statSync(file, { bigint: true }));
  } catch {
    return 'none';
  }
}

const PARTS = { cert: 'certificate', key: 'key', ca: 'file of client authorities' } as const;

function readPart(file: string, part: keyof typeof PARTS, optionPrefix: string): string {
  try {
    return readPemFile(file);
  } catch (cause) {
    const reasons: Record<string, string> = {
      ENOENT: 'there is no such file',
      EACCES: 'this user may not read it',
      EISDIR: 'it is a folder',
    };
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new TlsError(
      `${optionPrefix}${part}: the ${PARTS[part]} ${file} cannot be read: ${reasons[code] ?? message}`,
      { cause },
    );
  }
}

function parseCertificate(pem: string, file: string): X509Certificate {
  try {
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no PEM');
    return new X509Certificate(pem);
  } catch (cause) {
    const message = `${file} has no certificate in PEM, a text that begins with -----BEGIN CERTIFICATE-----`;
    throw new TlsError(message, { cause });
  }
}

function parseKey(pem: string, file: string): ReturnType<typeof createPrivateKey> {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const isEncrypted = /ENCRYPTED/.test(pem);
    throw new TlsError(
      isEncrypted
        ? `the key in ${file} is encrypted; decrypt it with: openssl pkey -in ${file} -out KEY`
        : `${file} has no private key in PEM, a text that begins with -----BEGIN PRIVATE KEY-----`,
      { cause },
    );
  }
}
