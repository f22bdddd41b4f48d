import { createHash } from 'node:crypto';
import type { EventLog, EventSubject, ServerEvent } from '../events/index.js';
import type { Alert, Notification } from './notification.js';

export const FIRING = 'alert_firing';
export const RESOLVED = 'alert_resolved';

/** Of one notification, each of another alert; what is beyond them is one event. */
const MOST_NAMES = 16;
/** Within a minute; further alerts are told when Alertmanager repeats them. */
export const MOST_A_MINUTE = 60;
const MINUTE_MS = 60_000;
/** Alerts that are known to fire. */
const MOST_KNOWN = 10_000;
const MOST_NAME = 128;
/** Labels that say what an event is about, where all its alerts have the same. */
const SUBJECTS = ['application', 'model', 'version', 'node'] as const;
const UNNAMED = 'unnamed';

export interface AlertCounts {
  /** Alerts that began, or ended. */
  readonly firing: number;
  readonly resolved: number;
  /** Told before: Alertmanager repeats what still fires. */
  readonly repeated: number;
  /** Too many events within a minute. */
  readonly left_out: number;
}

/** Events of alerts that begin and end: one for all of a notification that have one name. */
export class AlertIntake {
  /** Alerts that fire, the one that was told longest ago first, with since when. */
  private readonly known = new Map<string, string>();
  /** When the events of the last minute were noted. */
  private noted: number[] = [];

  constructor(
    private readonly events: Pick<EventLog, 'noteAutomatic' | 'find'>,
    private readonly nowMs: () => number = Date.now,
  ) {}

  take({ alerts }: Notification): AlertCounts {
    const counts = { firing: 0, resolved: 0, repeated: 0, left_out: 0 };
    const fresh = alerts.filter((alert) => !this.isKnown(alert));
    counts.repeated = alerts.length - fresh.length;
    for (const status of ['firing', 'resolved'] as const) {
      for (const group of groupsOf(fresh.filter((alert) => alert.status === status))) {
        if (this.isTold(group)) {
          counts.repeated += group.alerts.length;
          this.remember(group.alerts);
        } else if (this.hasRoom()) {
          this.events.noteAutomatic('alertmanager', happeningOf(group));
          counts[status] += group.alerts.length;
          this.remember(group.alerts);
        } else counts.left_out += group.alerts.length;
      }
    }
    return counts;
  }

  private isKnown(alert: Alert): boolean {
    return alert.status === 'firing' && this.known.get(keyOf(alert)) === alert.startsAt;
  }

  /** By this server before it was started anew, or by another one. */
  private isTold(group: Group): boolean {
    const { events } = this.events.find({ limit: Number.MAX_SAFE_INTEGER });
    const [verb, since] = [verbOf(group), sinceOf(group)];
    return events.some((event: ServerEvent) => {
      if (event.verb !== verb || event.about.alert !== group.name) return false;
      const after = event.after as { readonly since?: unknown; readonly alerts?: unknown } | undefined;
      return after?.since === since && after.alerts === group.alerts.length;
    });
  }

  private hasRoom(): boolean {
    const now = this.nowMs();
    this.noted = this.noted.filter((at) => at > now - MINUTE_MS && at <= now);
    if (this.noted.length >= MOST_A_MINUTE) return false;
    this.noted.push(now);
    return true;
  }

  private remember(alerts: readonly Alert[]): void {
    for (const alert of alerts) {
      const key = keyOf(alert);
      this.known.delete(key);
      if (alert.status === 'firing') this.known.set(key, alert.startsAt);
    }
    for (const key of this.known.keys()) {
      if (this.known.size <= MOST_KNOWN) break;
      this.known.delete(key);
    }
  }
}

interface Group {
  /** Of all its alerts; undefined: they have several. */
  readonly name: string | undefined;
  /** At least one, all of one status. */
  readonly alerts: readonly Alert[];
}

function groupsOf(alerts: readonly Alert[]): readonly Group[] {
  const byName = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const name = nameOf(alert);
    const group = byName.get(name);
    if (group === undefined) byName.set(name, [alert]);
    else group.push(alert);
  }
  const groups = [...byName].map(([name, of]): Group => ({ name, alerts: of }));
  if (groups.length <= MOST_NAMES) return groups;
  const others = groups.slice(MOST_NAMES).flatMap((group) => group.alerts);
  return [...groups.slice(0, MOST_NAMES), { name: undefined, alerts: others }];
}

function happeningOf(group: Group): { verb: string; about: EventSubject; after: unknown } {
  const { name, alerts } = group;
  const ends = alerts.map(({ endsAt }) => endsAt ?? '').sort();
  return {
    verb: verbOf(group),
    about: { ...(name === undefined ? {} : { alert: name }), ...subjectsOf(alerts) },
    after: {
      summary: summaryOf(group),
      alerts: alerts.length,
      since: sinceOf(group),
      ...(alerts[0].status === 'firing' ? {} : { until: ends.at(-1) }),
      ...shared(alerts, 'severity'),
      ...(name === undefined ? { names: [...new Set(alerts.map(nameOf))] } : {}),
    },
  };
}

function summaryOf({ name, alerts }: Group): string {
  const [{ annotations }] = alerts;
  if (name === undefined) return `${alerts.length} alerts of further names`;
  const text = annotations['summary'] ?? annotations['description'] ?? '';
  return alerts.length === 1
    ? text
    : `${text === '' ? '' : `${text}, and `}${alerts.length - 1} more like it`;
}

function subjectsOf(alerts: readonly Alert[]): EventSubject {
  return Object.assign({}, ...SUBJECTS.map((label) => shared(alerts, label))) as EventSubject;
}

/** A label, if all have it and it is the same. */
function shared(alerts: readonly Alert[], label: string): Readonly<Record<string, string>> {
  const value = alerts[0].labels[label];
  if (value === undefined || value.length > MOST_NAME) return {};
  return alerts.every(({ labels }) => labels[label] === value) ? { [label]: value } : {};
}

function nameOf({ labels }: Alert): string {
  return (labels['alertname'] ?? UNNAMED).slice(0, MOST_NAME);
}

function verbOf({ alerts: [{ status }] }: Group): string {
  return status === 'firing' ? FIRING : RESOLVED;
}

/** When the first of them began. */
function sinceOf({ alerts }: Group): string {
  return alerts.map(({ startsAt }) => startsAt).sort()[0];
}

/** Alertmanager's own name of an alert, or one of its labels. */
function keyOf({ fingerprint, labels }: Alert): string {
  if (fingerprint !== undefined) return fingerprint;
  const text = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(text).digest('hex');
}
