import { ERROR_CATALOGUE, ERROR_CODES } from './catalogue.js';

/** `docs/reference/errors.md`, whole. */
export function errorDocumentation(): string {
  const rows = ERROR_CODES.map((code) => {
    const { status, meaning, fix } = ERROR_CATALOGUE[code];
    return `| \`${code}\` | ${status} | ${meaning} | ${fix} |`;
  });
  return `# Errors

Generated from \`services/errors/catalogue.ts\` by \`node dist/services/errors/writeDocumentation.js\`; a test holds the two together.

Every error of the query interface (port 1337) and of the management interface (port 1338) has the body

\`\`\`json
{ "error": { "code": "wrong_length", "message": "input must have 784 elements, 3 came", "field": "input" } }
\`\`\`

\`code\` is stable and meant for programs, \`message\` for people, \`field\` names the part of the request at fault where there is one
(\`input[3]\`, \`input_batch[2][0]\`, \`latency_slo_micros\`). An error of one input of a batch has the same shape in that input's place.

| code | status | when | fix |
| ---- | ------ | ---- | --- |
${rows.join('\n')}
`;
}
