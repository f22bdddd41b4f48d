import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Certificates, TlsError, type CertificateFiles } from '../../http/index.js';
import { fail, ok, warn, type Finding } from './finding.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** A certificate with its key, as a server would take it. */
export function certificate(check: string, files: CertificateFiles, nowMs: number): Finding {
  try {
    new Certificates(files, () => undefined).close();
  } catch (error) {
    if (!(error instanceof TlsError)) throw error;
    return fail(check, error.message, 'give the files of one certificate and its key, in PEM');
  }
  const { validTo, validFrom } = new X509Certificate(readFileSync(files.cert));
  const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS);
  const text = `${files.cert} ends on ${new Date(validTo).toISOString().slice(0, 10)}`;
  if (Date.parse(validFrom) > nowMs)
    return fail(check, `${files.cert} begins on ${validFrom}`, 'set the clock, or wait');
  if (days < 0) return fail(check, text, 'renew it; the server reads the files again by itself');
  return days < SOON_DAYS ? warn(check, `${text}, in ${days} days`, 'renew it') : ok(check, text);
}
