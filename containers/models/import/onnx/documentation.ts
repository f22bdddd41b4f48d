import { OPERATOR_SETS } from './graphTranslation.js';
import { OPERATORS } from './operators/index.js';

const HEAD = `# ONNX operators

What \`windjammer import onnx\` ([guide](../guides/models.md#onnx)) makes of a graph, by the table of operators that it translates with: operator sets ${OPERATOR_SETS.first} to ${OPERATOR_SETS.last},
of older ones what has not changed since. This page is written by \`node dist/containers/models/import/onnx/writeDocumentation.js\`.

Values are float, float16 (computed in single precision), double, bool, and whole numbers of 8 to 64 bits, exact up to 2^53 and without wrapping around. "The batch" is the first extent:
what would mix its queries is refused. Where a line says "constant", initializers count, and what is computed of them and of shapes.
`;

/** docs/reference/onnx.md, of the table of operators. */
export function operatorDocumentation(): string {
  const sections = Object.entries(OPERATORS).map(([domain, table]) => {
    const rows = Object.entries(table)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, { limits }]) => `| \`${name}\` | ${limits ?? 'all'} |`);
    const title = domain === '' ? 'ONNX' : domain;
    return `## ${title}\n\n${rows.length} operators.\n\n| operator | supported |\n| --- | --- |\n${rows.join('\n')}\n`;
  });
  return [HEAD, ...sections].join('\n');
}
