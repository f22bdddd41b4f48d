import type { AccessIntervals, SummaryAccess } from '../idempotency/index.js';
import { sourceLines, type SourceLine } from '../ptx/index.js';
import { ExpressionText } from './expressionText.js';
import type { JudgedLaunch } from './judgeSpec.js';

/** Accesses that are listed one by one. */
const MOST_LISTED = 40;

/** The verdict in words: what collides, where in the text, with which bytes; then every access of the launch. */
export function explanationText(judged: JudgedLaunch): string {
  const { verdict, kernel, validator, launch } = judged;
  const { summary } = validator;
  const head = verdict.idempotent
    ? `${kernel.name}: idempotent: ${verdict.text}`
    : `${kernel.name}: not shown to be idempotent (${verdict.cause ?? 'PE'}): ${verdict.text}`;
  const intervals = validator.intervals(launch);
  const describe = new AccessText(judged, intervals);
  const lines = [head];
  const { collision } = verdict;
  if (collision === undefined) {
    for (const line of verdict.lines ?? []) if (line > 0) lines.push(`  ${describe.place(line)}`);
  } else {
    for (const index of [collision.read, collision.write]) lines.push(...describe.inFull(index));
    lines.push(`  in common: ${describe.common(collision.read, collision.write)}`);
  }
  const happening = summary.accesses
    .map((_, index) => index)
    .filter((index) => (intervals.lo[index] ?? 0) <= (intervals.hi[index] ?? 0));
  if (happening.length > 0) lines.push('accesses to global memory:');
  for (const index of happening.slice(0, MOST_LISTED)) lines.push(`  ${describe.brief(index)}`);
  if (happening.length > MOST_LISTED) lines.push(`  … and ${happening.length - MOST_LISTED} more`);
  if (!intervals.isComplete) lines.push('there may be accesses that are not listed');
  return lines.join('\n');
}

class AccessText {
  private readonly source: readonly string[];
  private readonly places: readonly (SourceLine | undefined)[];
  private readonly expressions: ExpressionText;

  constructor(
    private readonly judged: JudgedLaunch,
    private readonly intervals: AccessIntervals,
  ) {
    this.source = judged.ptx.split(/\r?\n/);
    this.places = sourceLines(this.source);
    this.expressions = new ExpressionText(judged.validator.summary, judged.kernel);
  }

  /** `saxpy.ptx:41 (saxpy.cu:5): ld.global.f32 …`. */
  place(line: number): string {
    const from = this.places[line];
    const origin = from === undefined ? '' : ` (${from.file}:${from.line})`;
    return `${this.judged.spec.ptx}:${line}${origin}: ${(this.source[line - 1] ?? '').trim().replaceAll(/\s+/g, ' ')}`;
  }

  inFull(index: number): readonly string[] {
    const access = this.access(index);
    const { nodes } = this.judged.validator.summary;
    const conditions = access.conditions
      .filter((node) => nodes[node]?.op !== 'constant')
      .map((node) => this.expressions.of(node));
    return [
      `  ${access.kind === 'read' ? 'reads ' : 'writes'} ${this.place(access.line)}`,
      `    address: ${this.expressions.of(access.exact)}, ${access.bytes} bytes`,
      ...(conditions.length === 0 ? [] : [`    when: ${conditions.join(', ')}`]),
      `    bytes: ${this.range(index)}`,
    ];
  }

  brief(index: number): string {
    const { line, kind } = this.access(index);
    return `line ${line}: ${kind === 'read' ? 'reads ' : 'writes'} ${this.range(index)}`;
  }

  common(a: number, b: number): string {
    const { lo, hi } = this.intervals;
    return this.bytes(Math.max(lo[a] ?? 0, lo[b] ?? 0), Math.min(hi[a] ?? 0, hi[b] ?? 0));
  }

  private range(index: number): string {
    return this.bytes(this.intervals.lo[index] ?? 0, this.intervals.hi[index] ?? 0);
  }

  private bytes(lo: number, hi: number): string {
    if (lo === -Infinity && hi === Infinity) return 'any';
    const [first, last] = [lo, hi].map((end) => (Number.isFinite(end) ? `0x${end.toString(16)}` : 'any'));
    const holder = this.judged.buffers.find(({ address, bytes }) => address <= lo && lo < address + bytes);
    if (holder === undefined) return `${first ?? ''} to ${last ?? ''}`;
    const end = Number.isFinite(hi) ? `${hi - holder.address}` : 'any';
    const beyond = hi - holder.address >= holder.bytes ? `, which has ${holder.bytes}` : '';
    return `${first ?? ''} to ${last ?? ''}: ${lo - holder.address} to ${end} of ${holder.path}${beyond}`;
  }

  private access(index: number): SummaryAccess {
    const access = this.judged.validator.summary.accesses[index];
    if (access === undefined) throw new RangeError(`no access ${index}`);
    return access;
  }
}
