/** An event of a trace, as the format has it. */
export interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly id?: string;
  readonly cat?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

export interface Trace {
  readonly displayTimeUnit: string;
  readonly otherData: Readonly<Record<string, unknown>>;
  readonly traceEvents: readonly TraceEvent[];
  readonly droppedEvents: number;
}

const nanoseconds = (micros: number): number => Math.round(micros * 1000);

/** What is wrong with a trace by the rules of its format; [] when nothing is. */
export function ruleBreaks({ traceEvents, displayTimeUnit }: Trace): string[] {
  const breaks: string[] = [];
  if (displayTimeUnit !== 'ns' && displayTimeUnit !== 'ms') breaks.push(`displayTimeUnit ${displayTimeUnit}`);
  const processes = new Set<number>();
  const threads = new Set<string>();
  const open = new Map<string, number>();
  const slices = new Map<string, TraceEvent[]>();
  const counted = new Map<string, number>();
  for (const event of traceEvents) {
    const { ph, name, pid, tid, ts } = event;
    const what = `${ph} '${name}' at ${ts}`;
    if (typeof name !== 'string' || name === '') breaks.push(`${what}: no name`);
    if (!Number.isSafeInteger(pid) || !Number.isSafeInteger(tid)) breaks.push(`${what}: pid or tid`);
    if (!Number.isFinite(ts) || ts < 0) breaks.push(`${what}: ts`);
    switch (ph) {
      case 'M':
        if (name === 'process_name') processes.add(pid);
        else if (name === 'thread_name') threads.add(`${pid}/${tid}`);
        else if (!/_sort_index$/.test(name)) breaks.push(`${what}: unknown metadata`);
        if (/_name$/.test(name) && typeof event.args?.name !== 'string') breaks.push(`${what}: args.name`);
        break;
      case 'X': {
        if (!Number.isFinite(event.dur) || (event.dur ?? -1) < 0) breaks.push(`${what}: dur`);
        if (!threads.has(`${pid}/${tid}`)) breaks.push(`${what}: its thread has no name yet`);
        const row = slices.get(`${pid}/${tid}`);
        if (row === undefined) slices.set(`${pid}/${tid}`, [event]);
        else row.push(event);
        break;
      }
      case 'i':
        if (!threads.has(`${pid}/${tid}`)) breaks.push(`${what}: its thread has no name yet`);
        break;
      case 'b':
      case 'e': {
        const key = `${pid}/${event.cat ?? ''}/${event.id ?? ''}`;
        if (event.id === undefined || event.cat === undefined) breaks.push(`${what}: no id or cat`);
        const began = open.get(key);
        if (ph === 'b') {
          if (began !== undefined) breaks.push(`${what}: begun twice`);
          open.set(key, ts);
        } else {
          if (began === undefined || began > ts) breaks.push(`${what}: ends before it begins`);
          open.delete(key);
        }
        break;
      }
      case 'C': {
        const last = counted.get(`${pid}/${name}`) ?? -1;
        if (ts <= last) breaks.push(`${what}: its counter was at ${last} already`);
        counted.set(`${pid}/${name}`, ts);
        const values = Object.values(event.args ?? {});
        if (values.length === 0 || !values.every(Number.isFinite)) breaks.push(`${what}: no numbers`);
        break;
      }
      default:
        breaks.push(`${what}: unknown phase`);
    }
    if (ph !== 'M' && !processes.has(pid)) breaks.push(`${what}: its process has no name yet`);
  }
  for (const key of open.keys()) breaks.push(`${key}: begins and never ends`);
  for (const [row, events] of slices) breaks.push(...overlaps(row, events));
  return breaks;
}

/** Slices of one row must follow one another. */
function overlaps(row: string, events: readonly TraceEvent[]): string[] {
  const sorted = [...events].sort((a, b) => a.ts - b.ts || (a.dur ?? 0) - (b.dur ?? 0));
  return sorted.flatMap((event, index) => {
    const before = sorted[index - 1] as TraceEvent | undefined;
    if (before === undefined) return [];
    const endNs = nanoseconds(before.ts) + nanoseconds(before.dur ?? 0);
    return endNs > nanoseconds(event.ts) ? [`${row}: '${event.name}' at ${event.ts} overlaps`] : [];
  });
}
