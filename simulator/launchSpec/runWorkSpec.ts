import type { ElementType } from './elementTypes.js';
import { basename } from 'node:path';
import type { DriverCompletion, LaunchReport } from '../driver/index.js';
import { Timeline } from '../timeline/index.js';
import { makeDumpDirectory, readOutput } from './bufferReports.js';
import { EntryTimes } from './entryTimes.js';
import { faultOptions, faultReport, type FaultReport } from './faultFields.js';
import { NodeSession, type ArgsOf } from './nodeSession.js';
import { isAsReported, sampleIndices, type BufferSummary } from './outputSummary.js';
import { setClocks, type LaunchSpecOptions } from './runLaunchSpec.js';
import { deviceOf } from './specFiles.js';
import { WorkContext, type WorkOutput } from './workPlacement.js';
import { checkWorkSpec, invalid, type WorkEntry, type WorkSpec } from './workSchema.js';
import {
  prepareCopy,
  submitEntries,
  type EntryStream,
  type PreparedEntry,
  type SubmittedEntry,
  type WorkEvent,
} from './workSubmission.js';

export interface WorkResult {
  /** The card it ran on. */
  readonly device: string;
  /** Whether that card's times were held against a real one. */
  readonly measured: boolean;
  /** From the start of the first entry to the end of the last. */
  readonly makespanUs: number;
  /** In the order of the spec. */
  readonly launches: readonly EntryReport[];
  readonly buffers: readonly WorkBufferSummary[];
  readonly executorSeconds: number;
  /** What came of transient faults, where there are any or something is done about them. */
  readonly faults?: FaultReport;
}

/** Simulated times in microseconds from the start of the first entry. */
export interface EntryReport {
  /** The field of the entry that says what it is; of a launch, `launch`. */
  readonly kind: string;
  readonly name?: string;
  readonly stream?: string;
  readonly kernel?: string;
  /** When it was its stream's oldest and could begin; of a copy by an engine, when that began on it. */
  readonly startUs: number;
  readonly endUs: number;
  readonly durationUs: number;
  /** When the first block came to an SM. */
  readonly firstBlockUs?: number;
  readonly bytes?: number;
  readonly ptxThreadInstructions?: number;
  readonly ptxWarpInstructions?: number;
  readonly dramBytes?: number;
  readonly printed?: string;
}

export interface WorkBufferSummary extends BufferSummary {
  /** The entry whose argument `arg` it is. */
  readonly launch?: number;
  readonly context?: string;
  /** Whether it is what the spec expects, where that says so. */
  readonly asExpected?: boolean;
}

export type WorkOptions = Omit<LaunchSpecOptions, 'backToBack'>;

/**
 * Runs a spec of several launches in virtual time: places everything, then submits the entries as one host thread a context does.
 * @param value the parsed JSON; @param baseDir where its relative `ptx` paths start.
 * @throws LaunchSpecError that names the entry and the field
 */
export function runWorkSpec(value: unknown, baseDir: string, options: WorkOptions = {}): WorkResult {
  const spec = checkWorkSpec(value, options.device);
  const device = deviceOf(spec, baseDir);
  if (options.dumpDirectory !== undefined) makeDumpDirectory(options.dumpDirectory);
  const contextArgs = Object.entries(spec.contexts).map(([, fields]): ArgsOf<'contextCreate'> => {
    const { activeThreadPercentage, timeSliceUs, launchClass } = fields;
    return {
      gpu: 0,
      ...(activeThreadPercentage === undefined ? {} : { activeThreadPercentage }),
      ...(timeSliceUs === undefined ? {} : { timeSliceNs: timeSliceUs * 1000 }),
      ...(launchClass === undefined ? {} : { launchClass }),
    };
  });
  const session = new NodeSession(
    {
      ...options.node,
      ...faultOptions(spec, options.node),
      gpus: [device],
      contexts: spec.contextSharing,
      ...(options.costs === undefined ? {} : { fidelity: 'timing' as const, costs: [options.costs] }),
      ...(options.stopwatch === undefined ? {} : { stopwatch: options.stopwatch }),
    },
    contextArgs[0],
  );
  const names = new Map<number, string>();
  const timeline =
    options.timeline === undefined
      ? undefined
      : new Timeline(session.node, options.timeline, { contextName: (context) => names.get(context) });
  try {
    setClocks(session, options);
    if (options.recordCosts !== undefined) session.node.recordCosts();
    const handles = contextArgs.map((args, index) =>
      index === 0 ? session.context : (session.call('contextCreate', args).handle ?? 0),
    );
    const contexts =
      handles.length === 0
        ? [new WorkContext(session, session.context, undefined, baseDir)]
        : handles.map((handle, index) => {
            return new WorkContext(session, handle, Object.keys(spec.contexts)[index], baseDir);
          });
    for (const { handle, name } of contexts) names.set(handle, name ?? basename(spec.ptx ?? 'launches'));
    const result = new WorkRun(session, spec, contexts).run(options, timeline);
    options.recordCosts?.(session.node.recordedCosts());
    const faults = faultReport(session.node);
    return faults === undefined ? result : { ...result, faults };
  } finally {
    timeline?.end();
    session.node.close();
  }
}

class WorkRun {
  private readonly streams = new Map<string, EntryStream>();
  private readonly events = new Map<string, WorkEvent>();
  private readonly used = new Map<string, EntryStream>();

  constructor(
    private readonly session: NodeSession,
    private readonly spec: WorkSpec,
    private readonly contexts: readonly WorkContext[],
  ) {}

  run({ dumpDirectory }: WorkOptions, timeline: Timeline | undefined): WorkResult {
    const { session, spec } = this;
    for (const [name, { context }] of Object.entries(spec.buffers)) {
      if (context !== undefined) this.contextOf(context, `buffers.${name}.context`);
    }
    for (const context of this.contexts) context.placeBuffers(spec);
    if (Object.keys(spec.symbols).length > 0) {
      const { ptx } = spec;
      if (ptx === undefined)
        throw invalid('ptx', "is missing; symbols are variables of the spec's own module");
      for (const context of this.contexts) context.setSymbols(ptx, spec.symbols);
    }
    for (const [name, { priority, context, launchClass }] of Object.entries(spec.streams)) {
      const owner = this.contextOf(context, `streams.${name}.context`);
      const args = { priority, ...(launchClass === undefined ? {} : { launchClass }) };
      const { handle = 0 } = session.call('streamCreate', args, { context: owner.handle });
      this.streams.set(name, { context: owner, handle, name });
    }
    const entries = this.prepare();
    this.checkExpected();
    const times = new EntryTimes(() => session.node.nowNs(), timeline);
    session.node.observe(times);
    const submitted = submitEntries(session, entries, [...this.used.values()], times);
    const reports = reportsOf(submitted, times);
    const [device] = session.node.profiles;
    return {
      device: device.name,
      measured: device.measured,
      makespanUs: Math.max(...reports.map(({ endUs }) => endUs)),
      launches: reports,
      buffers: session.node.memory.isDeclaredOnly
        ? []
        : this.outputs().map((each) => this.summary(each, dumpDirectory)),
      executorSeconds: submitted.reduce(
        (sum, { completion }) => sum + (launchOf(completion)?.executorSeconds ?? 0),
        0,
      ),
    };
  }

  /** Launches first, since their arguments may name buffers that copies move. */
  private prepare(): PreparedEntry[] {
    const { spec } = this;
    const launches = spec.launches.map((entry, index) => {
      if (!('kernel' in entry)) return undefined;
      return this.streamOf(entry, `launches[${index}]`).context.place(entry, index, spec.ptx);
    });
    return spec.launches.map((entry, index) => {
      const path = `launches[${index}]`;
      if ('synchronize' in entry) {
        return { entry, path, stream: undefined, submit: () => 0, blocksHost: true };
      }
      const stream = this.streamOf(entry, path);
      const args = launches[index];
      const own = { entry, path, stream, blocksHost: false };
      if (args !== undefined) return { ...own, submit: (session, to) => session.submit('launch', args, to) };
      if ('record' in entry) {
        const records = this.recorded(entry.record, stream, `${path}.record`);
        const args = { event: records.id };
        return { ...own, records, submit: (session, to) => session.submit('eventRecord', args, to) };
      }
      if ('wait' in entry) {
        const event = this.events.get(entry.wait);
        if (event === undefined) {
          throw invalid(`${path}.wait`, `no entry before this one records '${entry.wait}'`);
        }
        const args = { event: event.id, eventContext: event.context.handle };
        const foreign = event.context === stream.context ? {} : { waitsFor: event };
        return { ...own, ...foreign, submit: (session, to) => session.submit('eventWait', args, to) };
      }
      if ('kernel' in entry) throw new Error('a launch that was never placed');
      return { ...own, ...prepareCopy(entry, path, stream.context, this.session.node.memory.isDeclaredOnly) };
    });
  }

  private recorded(name: string, { context }: EntryStream, path: string): WorkEvent {
    const known = this.events.get(name);
    if (known !== undefined) {
      if (known.context === context) return known;
      throw invalid(
        path,
        `'${name}' is recorded in context '${known.context.name ?? ''}' already; take another name`,
      );
    }
    const event = { context, id: this.events.size + 1 };
    this.session.call('eventCreate', { event: event.id }, { context: context.handle });
    this.events.set(name, event);
    return event;
  }

  private streamOf(entry: Exclude<WorkEntry, { synchronize: true }>, path: string): EntryStream {
    const found = this.findStream(entry.stream, `${path}.stream`);
    this.used.set(`${found.context.handle} ${found.handle}`, found);
    return found;
  }

  private findStream(name: string | undefined, path: string): EntryStream {
    if (name === undefined) {
      if (this.contexts.length === 1) return { context: this.contexts[0], handle: 0, name };
      throw invalid(
        path,
        `is missing; with several contexts, expected one of ${listed(this.streams.keys())}`,
      );
    }
    const stream = this.streams.get(name);
    if (stream !== undefined) return stream;
    throw invalid(path, `there is no stream '${name}' in streams; there are: ${listed(this.streams.keys())}`);
  }

  private contextOf(name: string | undefined, path: string): WorkContext {
    if (name === undefined && this.contexts.length === 1) return this.contexts[0];
    const found = this.contexts.find((each) => each.name === name && name !== undefined);
    if (found !== undefined) return found;
    const names = listed(this.contexts.flatMap((each) => each.name ?? []));
    if (name === undefined) throw invalid(path, `is missing; expected one of ${names}`);
    throw invalid(path, `there is no context '${name}' in contexts; there are: ${names}`);
  }

  private outputs(): WorkOutput[] {
    return this.contexts.flatMap(({ outputs }) => outputs);
  }

  private checkExpected(): void {
    const names = this.outputs().flatMap(({ name }) => name ?? []);
    for (const name of Object.keys(this.spec.expect.buffers)) {
      if (names.includes(name)) continue;
      throw invalid(
        `expect.buffers.${name}`,
        `no buffer of that name is reported ("out": true); there are: ${listed(names)}`,
      );
    }
  }

  private summary(output: WorkOutput, directory: string | undefined): WorkBufferSummary {
    const { name, launch, arg, context, contextName } = output;
    const expected = name === undefined ? undefined : this.spec.expect.buffers[name];
    const asked = Object.keys(expected?.samples ?? {}).map(Number);
    const indices = asked.length > 0 ? asked : sampleIndices(output.count);
    const file = name ?? `launch${launch ?? ''}.arg${arg ?? ''}`;
    const read = readOutput(this.session, output, indices, { directory, file }, { context });
    return {
      ...(name === undefined ? {} : { name }),
      ...(launch === undefined ? {} : { launch }),
      ...(arg === undefined ? {} : { arg }),
      ...(contextName === undefined ? {} : { context: contextName }),
      ...read,
      ...(expected === undefined ? {} : { asExpected: isAsExpected(read, expected, output.type) }),
    };
  }
}

function isAsExpected(
  read: Pick<BufferSummary, 'sum' | 'samples'>,
  expected: WorkSpec['expect']['buffers'][string],
  type: ElementType,
): boolean {
  if (expected.sum !== undefined && !isAsReported(expected.sum, read.sum, 'f64')) return false;
  return Object.entries(expected.samples ?? {}).every(([index, value]) =>
    isAsReported(value, read.samples[index], type),
  );
}

function reportsOf(submitted: readonly SubmittedEntry[], times: EntryTimes): EntryReport[] {
  const spans = submitted.map((each) => {
    const launch = launchOf(each.completion);
    const start = times.of(each.ticket);
    const startNs = launch?.startNs ?? start?.startNs ?? each.submittedNs;
    const endNs = launch?.endNs ?? each.completion?.timeNs ?? startNs;
    return { each, launch, startNs, endNs, firstBlockNs: start?.firstBlockNs };
  });
  const zeroNs = Math.min(...spans.map(({ startNs }) => startNs));
  const us = (ns: number): number => Math.round(ns - zeroNs) / 1000;
  return spans.map(({ each: { prepared }, launch, startNs, endNs, firstBlockNs }) => {
    const { entry, stream, bytes } = prepared;
    return {
      kind: kindOf(entry),
      ...(entry.name === undefined ? {} : { name: entry.name }),
      ...(stream?.name === undefined ? {} : { stream: stream.name }),
      ...(launch === undefined ? {} : { kernel: launch.kernel }),
      startUs: us(startNs),
      endUs: us(endNs),
      durationUs: Math.round(endNs - startNs) / 1000,
      ...(firstBlockNs === undefined ? {} : { firstBlockUs: us(firstBlockNs) }),
      ...(bytes === undefined ? {} : { bytes }),
      ...(launch === undefined ? {} : launchFields(launch)),
    };
  });
}

function launchFields(launch: LaunchReport): Partial<EntryReport> {
  return {
    ptxThreadInstructions: launch.threadInstructions,
    ptxWarpInstructions: launch.warpInstructions,
    dramBytes: launch.dramBytes,
    ...(launch.printed === undefined ? {} : { printed: launch.printed }),
  };
}

function launchOf(completion: DriverCompletion | undefined): LaunchReport | undefined {
  return completion?.result?.launch;
}

function kindOf(entry: WorkEntry): string {
  if ('kernel' in entry) return 'launch';
  const kinds = ['copyToDevice', 'copyToHost', 'copy', 'memset', 'record', 'wait', 'synchronize'];
  return kinds.find((kind) => kind in entry) ?? '';
}

function listed(names: Iterable<string>): string {
  return [...names].join(', ') || 'none';
}
