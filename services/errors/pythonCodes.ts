import { ERROR_CATALOGUE, ERROR_CODES } from './catalogue.js';

/** The module of the client in Python that knows the catalogue, whole. */
export function pythonCodes(): string {
  const table = (valueOf: (code: (typeof ERROR_CODES)[number]) => string | number): string =>
    ERROR_CODES.map((code) => `    "${code}": ${JSON.stringify(valueOf(code))},\n`).join('');
  return `"""
Errors that a server answers with: the status of each, and what to do about it.

Generated from services/errors/catalogue.ts by \`node dist/services/errors/writeDocumentation.js\`; a test holds the two together.
"""

STATUSES = {
${table((code) => ERROR_CATALOGUE[code].status)}}

FIXES = {
${table((code) => ERROR_CATALOGUE[code].fix)}}
`;
}
