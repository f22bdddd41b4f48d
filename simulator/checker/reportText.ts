import type { Dim3 } from '../executor/index.js';
import type { CheckReport, CodePlace, Finding, MemoryAccess, Severity, ThreadPlace } from './findings.js';

const RULE = '=========';

/** The report for people: a paragraph a finding, then a summary. */
export function reportText(report: CheckReport): string {
  const { kernel, checkers, checked, findings, leftOut, totals, notes } = report;
  const { blocks, gridBlocks, threadInstructions } = checked;
  const lines = [
    `${checkers.join(', ')} of ${kernel}: ${blocks} of ${gridBlocks} block${gridBlocks === 1 ? '' : 's'}, ${threadInstructions} thread-instructions`,
    ...findings.flatMap(paragraph),
  ];
  if (leftOut > 0)
    lines.push('', `${leftOut} more finding${leftOut === 1 ? '' : 's'} left out (--limit shows more)`);
  for (const note of notes) lines.push('', `note: ${note}`);
  lines.push('', summary(totals));
  return lines.map((line) => `${RULE} ${line}`.trimEnd()).join('\n');
}

function summary(totals: CheckReport['totals']): string {
  const parts = (['error', 'warning', 'info'] as const)
    .filter((severity) => totals[severity] > 0)
    .map((severity) => `${totals[severity]} ${named(severity, totals[severity])}`);
  return parts.length === 0 ? 'nothing found' : `found: ${parts.join(', ')}`;
}

function named(severity: Severity, count: number): string {
  if (severity === 'info') return 'of no consequence';
  return count === 1 ? severity : `${severity}s`;
}

function paragraph(finding: Finding): string[] {
  const { checker, severity, title, at, other, otherRole, count, occurrences } = finding;
  const [first, ...more] = occurrences;
  const lines = [
    '',
    `${severity === 'info' ? 'note' : severity}: ${title} (${checker})`,
    `    at ${codeText(at)}`,
  ];
  if (first !== undefined) {
    lines.push(
      `    by ${threadText(first)}${first.access === undefined ? '' : `, ${accessText(first.access)}`}`,
    );
    if (first.detail !== undefined) lines.push(`    ${first.detail}`);
  }
  if (other !== undefined) {
    lines.push(`    ${otherRole ?? 'other'}: ${codeText(other)}`);
    if (first?.other !== undefined) {
      const { access } = first.other;
      lines.push(`    by ${threadText(first.other)}${access === undefined ? '' : `, ${accessText(access)}`}`);
    }
  }
  if (count > 1) {
    const shown = more.map((each) => threadText(each));
    const rest = count - 1 - shown.length;
    lines.push(
      `    ${count} times in all${shown.length === 0 ? '' : `; next ${shown.join('; ')}`}${rest > 0 ? `; and ${rest} more` : ''}`,
    );
  }
  return lines;
}

function codeText({ kernel, ptxFile, ptxLine, instruction, sourceFile, sourceLine }: CodePlace): string {
  const source = sourceFile === undefined ? '' : ` [${sourceFile}:${sourceLine ?? 0}]`;
  return `${kernel} (${ptxFile}:${ptxLine}${source}): ${instruction}`;
}

function threadText({ block, thread }: ThreadPlace): string {
  return `thread ${dimText(thread)} of block ${dimText(block)}`;
}

function dimText(extents: Dim3): string {
  return `(${extents.join(', ')})`;
}

function accessText({ space, kind, address, bytes }: MemoryAccess): string {
  const what = { load: 'reading', store: 'writing', atomic: 'updating' }[kind];
  const where =
    space === 'global' ? `at 0x${address.toString(16)}` : `at ${space} offset 0x${address.toString(16)}`;
  return `${what} ${bytes} byte${bytes === 1 ? '' : 's'} ${where}`;
}
