import { InvalidArgumentError, type Command } from 'commander';
import type { ManagementClient } from '../client/index.js';
import { differingFields } from '../json/index.js';
import type { EventAnswer, EventsFields } from '../management/index.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { interruption } from './interruption.js';
import { wholeNumber } from './optionValues.js';
import { print, table } from './printing.js';

interface EventsOptions extends ClientOptions {
  readonly follow?: true;
  readonly since?: Date;
  readonly app?: string;
  readonly model?: string;
  readonly limit: number;
}

/** Of one request. */
const PAGE = 1000;
const WAIT_S = 20;

/** What was changed on a server, and what happened by itself. */
export function addEventsCommand(program: Command): void {
  withManagementOptions(
    program
      .command('events')
      .description('what was changed on a server, by whom, from what to what, and what happened by itself')
      .option(
        '--since <time>',
        'not older than 90s, 10m, 2h or 7d, or than a date such as 2030-01-31T12:00Z',
        moment,
      )
      .option('--app <name>', 'only of this application')
      .option('--model <name>', 'only of this model')
      .option(
        '--limit <number>',
        'the last so many; with --since all unless given',
        wholeNumber(1, 100_000),
        50,
      )
      .option('-f, --follow', 'go on with those that come, until Ctrl-C'),
  ).action(async (options: EventsOptions, command: Command) => {
    const isLimited = options.since === undefined || command.getOptionValueSource('limit') === 'cli';
    await show(options, isLimited ? options.limit : Infinity);
  });
}

async function show(options: EventsOptions, limit: number): Promise<void> {
  const { management } = await clientOf(options);
  const of = { app_name: options.app, model_name: options.model, since: options.since?.toISOString() };
  const { events, last } = await lastOnes(management, of, limit);
  if (options.follow !== true) {
    print(options.json, events, events.length === 0 ? 'No events.' : table(HEADS, events.map(rowOf)));
    return;
  }
  const write = (event: EventAnswer) => print(options.json, event, rowOf(event).join('  '));
  events.forEach(write);
  await follow(management, { ...of, after: last }, options.timeoutMs, write);
}

/** Page by page from the newest back. @returns the oldest first */
async function lastOnes(
  management: ManagementClient,
  of: EventsFields,
  limit: number,
): Promise<{ readonly events: readonly EventAnswer[]; readonly last: number }> {
  const found: EventAnswer[] = [];
  let last: number | undefined;
  for (;;) {
    const before = found.at(0)?.seq;
    const page = await management.events({ ...of, before, limit: Math.min(limit - found.length, PAGE) });
    // What came since is for those who follow.
    last ??= page.last;
    found.unshift(...page.events);
    if (!page.more || found.length >= limit) return { events: found, last };
  }
}

async function follow(
  management: ManagementClient,
  from: EventsFields & { readonly after: number },
  timeoutMs: number,
  write: (event: EventAnswer) => void,
): Promise<void> {
  const interrupted = interruption();
  const gone = new AbortController();
  // Whoever reads a pipe ends it: there is nobody left to tell.
  const onGone = (): void => gone.abort();
  process.stdout.once('error', onGone);
  const stopped = AbortSignal.any([interrupted.signal, gone.signal]);
  let { after } = from;
  try {
    for (;;) {
      const { events, more, last } = await management.events(
        { ...from, after, limit: PAGE, wait_seconds: WAIT_S },
        { signal: stopped, timeoutMs: WAIT_S * 1000 + timeoutMs },
      );
      events.forEach(write);
      // Past those that are of something else, too.
      after = more ? (events.at(-1)?.seq ?? last) : last;
    }
  } catch (error) {
    if (!stopped.aborted) throw error;
  } finally {
    interrupted.end();
    process.stdout.off('error', onGone);
  }
}

const HEADS = ['TIME', 'BY', 'WHAT', 'OF', 'CHANGE'];

function rowOf(event: EventAnswer): string[] {
  const { time, by, verb, about, before, after, count, since } = event;
  const of = Object.entries(about).map(
    ([kind, what]) => `${kind} ${Array.isArray(what) ? what.join(', ') : String(what)}`,
  );
  const often = count === undefined ? '' : ` (${count} times since ${since})`;
  return [time, by.name, verb, of.join(', '), `${changeText(before, after)}${often}`];
}

/** A version that came or went, whole: the verb says so, beside `current_version`. */
const WHOLE_RECORD = 'registered';

/** Of two objects what differs; what came or went is said by the verb. */
function changeText(before: unknown, after: unknown): string {
  if (isRecord(before) && isRecord(after)) {
    return differingFields(before, after)
      .filter((name) => name !== WHOLE_RECORD)
      .map((name) => `${name}: ${valueText(before[name])} → ${valueText(after[name])}`)
      .join('; ');
  }
  if (Array.isArray(before) || Array.isArray(after)) return `${valueText(before)} → ${valueText(after)}`;
  if (before !== undefined || !isRecord(after)) return '';
  const words = after['reason'] ?? after['summary'];
  return typeof words === 'string' ? words : '';
}

const MOST_SHOWN = 60;

function valueText(value: unknown): string {
  if (value === undefined) return 'none';
  const text = JSON.stringify(value);
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}…`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function moment(text: string): Date {
  const ago = /^(\d{1,9})([smhd])$/.exec(text);
  const ms =
    ago === null ? Date.parse(text) : Date.now() - Number(ago[1]) * UNITS_MS[ago[2] as keyof typeof UNITS_MS];
  // Beyond it a date has no ISO form of four digits.
  if (ms >= 0 && ms < Date.UTC(9999, 0)) return new Date(ms);
  throw new InvalidArgumentError('expected 90s, 10m, 2h or 7d, or a date such as 2030-01-31T12:00Z.');
}
