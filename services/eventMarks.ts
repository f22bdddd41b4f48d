import type { Change } from './dashboard/index.js';
import type { EventLog, ServerEvent } from './events/index.js';
import { differingFields } from './json/index.js';

/** More at once than this say nothing on a chart. */
const MOST_AT_ONCE = 1000;

/** Passes on events from here on, as the charts show them, whichever server they were on; returns the unsubscriber. */
export function watchMarks(events: EventLog, listener: (change: Change) => void): () => void {
  let { last } = events;
  return events.watch(() => {
    for (const event of events.find({ after: last, limit: MOST_AT_ONCE }).events) {
      last = event.seq;
      listener(markOf(event));
    }
  });
}

export function markOf(event: ServerEvent): Change {
  return { at: Date.parse(event.time), ...wordsOf(event) };
}

function wordsOf({ verb, about, before, after, count }: ServerEvent): Omit<Change, 'at'> {
  const { application, model, version, replica } = about;
  const what = application ?? model ?? about.node ?? about.feedback ?? about.key ?? '';
  const [then, now] = [fieldsOf(before), fieldsOf(after)];
  switch (verb) {
    case 'add_app':
      return { kind: 'application', what, text: 'registered' };
    case 'delete_app':
      return { kind: 'application', what, text: 'deleted' };
    case 'set_app':
      return { kind: 'application', what, text: differences(then, now) };
    case 'add_model_links':
      return { kind: 'application', what, text: `linked ${about.models?.join(', ')}` };
    case 'delete_model_links':
      return { kind: 'application', what, text: `unlinked ${about.models?.join(', ')}` };
    case 'add_model':
      return { kind: 'deploy', what, text: `version ${version} deployed` };
    case 'delete_versioned_model':
      return { kind: 'remove', what, text: `version ${version} deleted` };
    case 'set_model_version': {
      if (then['current_version'] === version)
        return { kind: 'rollback', what, text: `version ${version} stays, no other one is tried` };
      const former = then['former_versions'];
      const isRollback = Array.isArray(former) && former.includes(version);
      const text = `version ${textOf(then['current_version'])} → ${version}`;
      return isRollback
        ? { kind: 'rollback', what, text: `${text}, as before` }
        : { kind: 'switch', what, text };
    }
    case 'version_took_over':
      return {
        kind: 'switch',
        what,
        text: `version ${version} answers, ${textOf(then['serving_version'])} did`,
      };
    case 'start_canary':
      return { kind: 'deploy', what, text: `version ${version} is tried` };
    case 'promote_canary':
    case 'canary_promoted':
      return {
        kind: 'switch',
        what,
        text: `version ${version} promoted: ${textOf(now['reason'] ?? 'by hand')}`,
      };
    case 'abort_canary':
    case 'canary_withdrawn':
      return {
        kind: 'rollback',
        what,
        text: `version ${version} withdrawn: ${textOf(now['reason'] ?? 'by hand')}`,
      };
    case 'scale':
    case 'set_num_replicas':
      return { kind: 'scale', what, text: `version ${version}: ${differences(then, now)}` };
    case 'replica_lost':
      return {
        kind: 'lost',
        what: `${model} v${version}, replica ${replica}`,
        text: `lost: ${textOf(now['reason'])}${count === undefined ? '' : ` (${count} times)`}`,
      };
    case 'policy_failed':
      return { kind: 'lost', what: `policy of ${what}`, text: `goes without it: ${textOf(now['reason'])}` };
    case 'alert_firing':
    case 'alert_resolved':
      return {
        kind: verb === 'alert_firing' ? 'alert' : 'resolved',
        what: about.alert ?? 'alerts',
        text: textOf(now['summary'] ?? ''),
      };
    default:
      return { kind: 'other', what, text: verb.replaceAll('_', ' ') };
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** `replicas 1 → 3`, of everything that is another than before. */
function differences(before: Fields, after: Fields): string {
  return differingFields(before, after)
    .map((field) => `${field} ${textOf(before[field])} → ${textOf(after[field])}`)
    .join(', ');
}

/** As people read it, and no longer than fits a line. */
function textOf(value: unknown): string {
  const text = value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
