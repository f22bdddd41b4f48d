import type { Dim3 } from '../executor/index.js';
import {
  CHECKERS,
  type CheckReport,
  type Finding,
  type FindingKind,
  type Occurrence,
  type Severity,
} from './findings.js';
import type { LaunchCode } from './launchCode.js';

/** One mistake of one thread, before equal ones are put together. `pc` and `otherPc` are instruction indices. */
export interface Observation extends Occurrence {
  readonly checker: Finding['checker'];
  readonly severity: Severity;
  readonly kind: FindingKind;
  readonly title: string;
  readonly pc: number;
  readonly otherPc?: number;
  readonly otherRole?: string;
  readonly faultCode?: Finding['faultCode'];
}

interface Group {
  readonly first: Observation;
  count: number;
  /** Sorted, at most `OCCURRENCES`. */
  readonly occurrences: Occurrence[];
}

const OCCURRENCES = 4;
const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

/** Gathers what the checkers see. What it gives does not depend on the order in which threads ran. */
export class FindingLog {
  private readonly groups = new Map<string, Group>();

  constructor(private readonly code: LaunchCode) {}

  add(observation: Observation): void {
    const { checker, severity, kind, title, pc, otherPc = -1 } = observation;
    const key = `${checker} ${severity} ${kind} ${pc} ${otherPc} ${title}`;
    let group = this.groups.get(key);
    if (group === undefined) {
      group = { first: observation, count: 0, occurrences: [] };
      this.groups.set(key, group);
    }
    group.count++;
    keepFirst(group.occurrences, observation);
  }

  /** The findings in order, at most `limit`. */
  report(limit: number): Pick<CheckReport, 'findings' | 'leftOut' | 'totals'> {
    const findings = [...this.groups.values()].map((group) => this.finding(group)).sort(byPlace);
    const totals = { error: 0, warning: 0, info: 0 };
    for (const { severity, count } of findings) totals[severity] += count;
    return { findings: findings.slice(0, limit), leftOut: Math.max(0, findings.length - limit), totals };
  }

  private finding({ first, count, occurrences }: Group): Finding {
    const { checker, severity, kind, title, pc, otherPc, otherRole, faultCode } = first;
    return {
      checker,
      severity,
      kind,
      title,
      at: this.code.place(pc),
      ...(otherPc === undefined ? {} : { other: this.code.place(otherPc) }),
      ...(otherRole === undefined ? {} : { otherRole }),
      ...(faultCode === undefined ? {} : { faultCode }),
      count,
      occurrences: occurrences.map(bare),
    };
  }
}

function keepFirst(kept: Occurrence[], candidate: Occurrence): void {
  const last = kept[kept.length - 1];
  if (kept.length >= OCCURRENCES && last !== undefined && compare(candidate, last) >= 0) return;
  let at = kept.length;
  for (let above = kept[at - 1]; above !== undefined && compare(candidate, above) < 0; above = kept[at - 1])
    at--;
  kept.splice(at, 0, candidate);
  if (kept.length > OCCURRENCES) kept.pop();
}

function compare(a: Occurrence, b: Occurrence): number {
  return (
    compareDim(a.block, b.block) ||
    compareDim(a.thread, b.thread) ||
    (a.access?.address ?? 0) - (b.access?.address ?? 0) ||
    (a.other === undefined || b.other === undefined ? 0 : compareDim(a.other.thread, b.other.thread))
  );
}

/** Linear order: x runs fastest. */
function compareDim(a: Dim3, b: Dim3): number {
  return a[2] - b[2] || a[1] - b[1] || a[0] - b[0];
}

const ORDER: readonly Finding['checker'][] = ['launch', ...CHECKERS];

function byPlace(a: Finding, b: Finding): number {
  return (
    ORDER.indexOf(a.checker) - ORDER.indexOf(b.checker) ||
    a.at.ptxLine - b.at.ptxLine ||
    RANK[a.severity] - RANK[b.severity] ||
    compareText(a.kind, b.kind) ||
    (a.other?.ptxLine ?? 0) - (b.other?.ptxLine ?? 0) ||
    compareText(a.title, b.title)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function bare({ block, thread, access, detail, other }: Occurrence): Occurrence {
  return {
    block,
    thread,
    ...(access === undefined ? {} : { access }),
    ...(detail === undefined ? {} : { detail }),
    ...(other === undefined ? {} : { other }),
  };
}
