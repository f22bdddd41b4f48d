import type { DriverCompletion } from '../driver/index.js';
import { fillPiece } from './bufferContents.js';
import { elementBytes } from './elementTypes.js';
import type { ContentsSpec } from './argumentSchema.js';
import type { EntryTimes } from './entryTimes.js';
import { type ArgsOf, type Destination, type NodeSession } from './nodeSession.js';
import type { PlacedBuffer } from './placement.js';
import type { WorkContext } from './workPlacement.js';
import { invalid, type CopyEntry, type WorkEntry } from './workSchema.js';

/** Where an entry goes. */
export interface EntryStream {
  readonly context: WorkContext;
  readonly handle: number;
  readonly name: string | undefined;
}

/** An event, which belongs to the context that records it. */
export interface WorkEvent {
  readonly context: WorkContext;
  readonly id: number;
}

/** What is to be submitted for an entry; entries are placed before the first of them is submitted. */
export interface PreparedEntry {
  readonly entry: WorkEntry;
  readonly path: string;
  /** Undefined: of the host itself. */
  readonly stream: EntryStream | undefined;
  readonly submit: (session: NodeSession, to: Destination) => number;
  readonly bytes?: number;
  /** The event that it records. */
  readonly records?: WorkEvent;
  /** An event of another context that it waits for. */
  readonly waitsFor?: WorkEvent;
  /** The host goes on when it is done. */
  readonly blocksHost: boolean;
}

/** An entry when it is over. */
export interface SubmittedEntry {
  readonly prepared: PreparedEntry;
  readonly ticket: number;
  readonly submittedNs: number;
  completion?: DriverCompletion | undefined;
}

/**
 * Submits entries as a program's host thread does, one after the other, and runs until all are done.
 * @throws LaunchSpecError that names the entry which failed
 */
export function submitEntries(
  session: NodeSession,
  entries: readonly PreparedEntry[],
  streams: readonly EntryStream[],
  times: EntryTimes,
): SubmittedEntry[] {
  const submitted: SubmittedEntry[] = [];
  const recordTickets = new Map<WorkEvent, number>();
  let calledNs = session.node.nowNs();
  for (const prepared of entries) {
    const { stream, entry } = prepared;
    if (entry.afterUs > 0) session.runUntil(calledNs + entry.afterUs * 1000);
    calledNs = session.node.nowNs();
    if (stream === undefined) {
      const own = { prepared, ticket: -1, submittedNs: calledNs };
      submitted.push({ ...own, completion: synchronize(session, streams) });
      requireSuccess(session, submitted);
    } else {
      const { records, waitsFor } = prepared;
      const record = waitsFor === undefined ? undefined : recordTickets.get(waitsFor);
      // Each context has a host thread: this one waits until the other's has recorded the event.
      if (record !== undefined) session.runUntilTrue(() => times.isQueued(record));
      const ticket = prepared.submit(session, { context: stream.context.handle, stream: stream.handle });
      const own: SubmittedEntry = { prepared, ticket, submittedNs: calledNs };
      submitted.push(own);
      if (records !== undefined) recordTickets.set(records, ticket);
      if (prepared.blocksHost) own.completion = session.wait(ticket);
    }
    calledNs = session.node.nowNs();
  }
  requireSuccess(session, submitted);
  return submitted;
}

/** The host waits for all streams. @returns what it learned last */
function synchronize(session: NodeSession, streams: readonly EntryStream[]): DriverCompletion | undefined {
  const tickets = streams.map(({ context, handle }) =>
    session.submit('streamSynchronize', {}, { context: context.handle, stream: handle }),
  );
  return tickets
    .map((ticket) => session.wait(ticket))
    .sort((a, b) => a.timeNs - b.timeNs)
    .at(-1);
}

/** Runs until all are done. A kernel's fault ends everything of its context: it is what is told, and not what it took along. */
function requireSuccess(session: NodeSession, submitted: readonly SubmittedEntry[]): void {
  for (const each of submitted) if (each.ticket > 0) each.completion ??= session.wait(each.ticket);
  const failures = submitted
    .filter(({ completion }) => completion?.failure !== undefined)
    .sort((a, b) => Number(isTakenAlong(a)) - Number(isTakenAlong(b)));
  const [first] = failures;
  const failure = first?.completion?.failure;
  if (first !== undefined && failure !== undefined) {
    throw session.failed(failure, first.completion?.result, first.prepared.path);
  }
}

function isTakenAlong({ completion }: SubmittedEntry): boolean {
  return completion?.failure?.code === 'contextFaulted' || completion?.result?.launch === undefined;
}

/** What a copy or fill submits. @throws LaunchSpecError for ranges outside of buffers */
export function prepareCopy(
  entry: CopyEntry,
  path: string,
  context: WorkContext,
  isDeclaredOnly: boolean,
): Pick<PreparedEntry, 'submit' | 'bytes' | 'blocksHost'> {
  const buffer = (name: string, field: string): PlacedBuffer => context.buffer(name, `${path}.${field}`);
  if ('copyToDevice' in entry) {
    const { to, offsetBytes, contents, pageable } = entry.copyToDevice;
    const target = buffer(to, 'copyToDevice.to');
    const given: ContentsSpec = contents ?? target.spec;
    const size = given.count * elementBytes(given.type);
    const address = startOf(target, offsetBytes, size, `${path}.copyToDevice`);
    const bytes = new Uint8Array(isDeclaredOnly ? 0 : size);
    if (!isDeclaredOnly) fillPiece(given, 0, bytes, `${path}.copyToDevice.contents`);
    const args: ArgsOf<'memcpyHostToDevice'> = {
      address,
      bytes,
      pinned: !pageable,
      ...(isDeclaredOnly ? { declaredBytes: size } : {}),
    };
    return {
      submit: (session, to) => session.submit('memcpyHostToDevice', args, to),
      bytes: size,
      blocksHost: false,
    };
  }
  if ('copyToHost' in entry) {
    const { from, offsetBytes, bytes, pageable } = entry.copyToHost;
    const source = buffer(from, 'copyToHost.from');
    const size = bytes ?? source.bytes - offsetBytes;
    const address = startOf(source, offsetBytes, size, `${path}.copyToHost`);
    const args = { address, bytes: size, pinned: !pageable };
    return {
      submit: (session, to) => session.submit('memcpyDeviceToHost', args, to),
      bytes: size,
      // As CUDA documents it: such a call comes back when the bytes are there.
      blocksHost: pageable,
    };
  }
  if ('copy' in entry) {
    const { from, to, fromOffsetBytes, toOffsetBytes, bytes } = entry.copy;
    const [origin, target] = [buffer(from, 'copy.from'), buffer(to, 'copy.to')];
    const size = bytes ?? origin.bytes - fromOffsetBytes;
    const source = startOf(origin, fromOffsetBytes, size, `${path}.copy`, 'fromOffsetBytes');
    const destination = startOf(target, toOffsetBytes, size, `${path}.copy`, 'toOffsetBytes');
    const args = { source, destination, bytes: size };
    return {
      submit: (session, to) => session.submit('memcpyDeviceToDevice', args, to),
      bytes: size,
      blocksHost: false,
    };
  }
  const { to, value, offsetBytes, bytes } = entry.memset;
  const target = buffer(to, 'memset.to');
  const size = bytes ?? target.bytes - offsetBytes;
  const args = { address: startOf(target, offsetBytes, size, `${path}.memset`), value, bytes: size };
  return {
    submit: (session, to) => session.submit('memset', args, to),
    bytes: size,
    blocksHost: false,
  };
}

/** Address of a part of a buffer. */
function startOf(
  { spec, address, bytes }: PlacedBuffer,
  offset: number,
  size: number,
  path: string,
  field = 'offsetBytes',
): number {
  if (spec.freed) throw invalid(path, `buffer '${spec.name ?? ''}' is freed; copies need one that is not`);
  if (offset > bytes) {
    throw invalid(`${path}.${field}`, `${offset}, but buffer '${spec.name ?? ''}' has ${bytes} bytes`);
  }
  if (offset + size > bytes) {
    throw invalid(
      path,
      `${size} bytes from ${offset} on do not fit buffer '${spec.name ?? ''}' of ${bytes} bytes; give fewer`,
    );
  }
  return address + offset;
}
