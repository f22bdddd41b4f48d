import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:https';
import { fileURLToPath } from 'node:url';
import { sendJson } from '../index.js';

/** A file of the committed certificates. */
export function certificateFile(name: string): string {
  return fileURLToPath(new URL(`certificates/${name}.pem`, import.meta.url));
}

export function pem(name: string): string {
  return readFileSync(certificateFile(name), 'latin1');
}

export interface SecureAnswer {
  readonly status: number;
  readonly text: string;
}

export interface SecureOptions {
  readonly path?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** GETs over TLS, trusting the authority of the tests and nobody else. */
export function getSecurely(
  port: number,
  { path = '/', ...options }: SecureOptions = {},
): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: 'localhost', port, path, ca: pem('authority'), agent: false, ...options },
      (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => (text += part.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

/** Answers with the path that was asked for. */
export function echo(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  sendJson(response, 200, JSON.stringify(request.url));
}
