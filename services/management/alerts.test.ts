import { describe, expect, it } from 'vitest';
import {
  AlertIntake,
  FIRING,
  MOST_A_MINUTE,
  MOST_ALERTS,
  RESOLVED,
  type Notification,
} from '../alerts/index.js';
import { app, eachWithServer, verbsOf } from './tests/harness.js';

type Alert = Notification['alerts'][number];

const SINCE = '2030-01-31T10:00:00.000Z';

function alert(name: string, labels: Record<string, string> = {}, more: Partial<Alert> = {}): Alert {
  return {
    status: 'firing',
    labels: { alertname: name, severity: 'page', ...labels },
    annotations: { summary: `${name} of ${labels['model'] ?? 'all'}` },
    startsAt: SINCE,
    endsAt: '0001-01-01T00:00:00Z',
    ...more,
  };
}

/** As Alertmanager posts it, with what nobody reads here. */
function sent(...alerts: readonly Alert[]): object {
  return {
    version: '4',
    receiver: 'windjammer',
    status: 'firing',
    groupKey: '{}:{alertname="A"}',
    truncatedAlerts: 0,
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://alertmanager',
    alerts: alerts.map((one) => ({ ...one, generatorURL: 'http://prometheus' })),
  };
}

describe('alerts that Alertmanager sends', () => {
  const harness = eachWithServer();
  const { post, done, refused } = verbsOf(harness);
  const counts = async (...alerts: readonly Alert[]) => (await post('note_alerts', sent(...alerts))).json;
  const told = () =>
    harness()
      .events.recent(5000)
      .map(({ verb, about, after }) => ({ verb, about, after }));

  it('are events that say what they are about, once each, and once more when they are over', async () => {
    const slow = alert('Slow', { model: 'm', version: '1', instance: 'a' }, { fingerprint: 'a1' });
    expect(await counts(slow)).toEqual({ firing: 1, resolved: 0, repeated: 0, left_out: 0 });
    expect(await counts(slow)).toEqual({ firing: 0, resolved: 0, repeated: 1, left_out: 0 });
    const over = { status: 'resolved', endsAt: '2030-01-31T10:05:00.000Z' } as const;
    expect(await counts({ ...slow, ...over })).toEqual({ firing: 0, resolved: 1, repeated: 0, left_out: 0 });
    expect(await counts({ ...slow, ...over })).toMatchObject({ resolved: 0, repeated: 1 });
    const about = { alert: 'Slow', model: 'm', version: '1' };
    const after = { summary: 'Slow of m', alerts: 1, since: SINCE, severity: 'page' };
    expect(told()).toEqual([
      { verb: FIRING, about, after },
      { verb: RESOLVED, about, after: { ...after, until: over.endsAt } },
    ]);
    // It begins anew.
    expect(await counts({ ...slow, startsAt: '2030-01-31T11:00:00.000Z' })).toMatchObject({ firing: 1 });
    expect(harness().events.find({ model: 'm', limit: 10 }).events).toHaveLength(3);
    expect(harness().events.recent()[0]).toMatchObject({ automatic: true, by: { name: 'alertmanager' } });
  });

  it('of one name are one event', async () => {
    const many = Array.from({ length: 5 }, (_, at) => alert('Slow', { model: 'm', version: `${at}` }));
    expect(await counts(...many, alert('Down', { instance: 'b' }))).toMatchObject({ firing: 6 });
    expect(told()).toMatchObject([
      {
        about: { alert: 'Slow', model: 'm' },
        after: { alerts: 5, summary: 'Slow of m, and 4 more like it' },
      },
      { about: { alert: 'Down' }, after: { alerts: 1 } },
    ]);
    expect(told()[0].about).not.toHaveProperty('version');
    // One has come to those that are known.
    expect(await counts(...many, alert('Slow', { model: 'n' }))).toMatchObject({ firing: 1, repeated: 5 });
  });

  it('that another server has told, or this one before it was started anew, are told once', async () => {
    await counts(alert('Slow'));
    const another = new AlertIntake(harness().events);
    expect(another.take({ version: '4', alerts: [alert('Slow')] })).toMatchObject({ firing: 0, repeated: 1 });
    expect(told()).toHaveLength(1);
  });

  it('are few events, however many there are', async () => {
    await done('add_app', app);
    const flood = Array.from({ length: MOST_ALERTS }, (_, at) => alert(`A${at}`));
    expect(await counts(...flood)).toMatchObject({ firing: MOST_ALERTS });
    expect(told()).toHaveLength(1 + 16 + 1);
    expect(told().at(-1)).toMatchObject({
      about: {},
      after: { alerts: MOST_ALERTS - 16, summary: `${MOST_ALERTS - 16} alerts of further names` },
    });
    let leftOut = 0;
    for (let turn = 0; turn < 2 * MOST_A_MINUTE; turn++) {
      leftOut += ((await counts(alert(`B${turn}`))) as { left_out: number }).left_out;
    }
    expect(told()).toHaveLength(1 + MOST_A_MINUTE);
    expect(leftOut).toBe(2 * MOST_A_MINUTE - (MOST_A_MINUTE - 17));
    expect(told()[0].verb).toBe('add_app');
  });

  it('that were left out are told when they are repeated, a minute later', () => {
    let nowMs = 0;
    const intake = new AlertIntake(harness().events, () => nowMs);
    const take = (name: string) => intake.take({ version: '4', alerts: [alert(name)] });
    for (let at = 0; at < MOST_A_MINUTE; at++) expect(take(`A${at}`)).toMatchObject({ firing: 1 });
    expect(take('late')).toEqual({ firing: 0, resolved: 0, repeated: 0, left_out: 1 });
    nowMs = 60_000;
    expect(take('late')).toMatchObject({ firing: 1 });
    expect(take('late')).toMatchObject({ repeated: 1 });
  });

  it('take nobody by surprise who has strange names', async () => {
    const labels = { alertname: 'x'.repeat(5000), model: 'y'.repeat(5000), ['__proto__x']: '1' };
    await counts({ ...alert('x'), labels, annotations: {} }, { ...alert(''), labels: {} });
    expect(told()).toMatchObject([
      { about: { alert: 'x'.repeat(128) }, after: { summary: '' } },
      { about: { alert: 'unnamed' } },
    ]);
    expect(JSON.stringify(told()).length).toBeLessThan(2000);
    expect(await counts()).toEqual({ firing: 0, resolved: 0, repeated: 0, left_out: 0 });
  });

  const one = alert('A');
  it.each([
    ['no JSON', '{', 'not_json', undefined],
    ['no object', '[]', 'wrong_type', undefined],
    ['another version', { ...sent(one), version: '3' }, 'invalid_value', 'version'],
    ['no alerts', { version: '4' }, 'missing_field', 'alerts'],
    [
      'a status that there is not',
      sent({ ...one, status: 'silenced' as 'firing' }),
      'invalid_value',
      'alerts[0].status',
    ],
    [
      'a label that is a number',
      sent({ ...one, labels: { a: 1 as unknown as string } }),
      'wrong_type',
      'alerts[0].labels.a',
    ],
    ['a time that is none', sent({ ...one, startsAt: 'yesterday' }), 'invalid_value', 'alerts[0].startsAt'],
    [
      'a fingerprint that is none',
      sent({ ...one, fingerprint: 'x y' }),
      'invalid_value',
      'alerts[0].fingerprint',
    ],
    ['too many', sent(...Array.from({ length: MOST_ALERTS + 1 }, () => one)), 'invalid_value', 'alerts'],
  ] as const)('are refused with %s', async (_, body, code, field) => {
    await refused('note_alerts', body, code, field);
    expect(told()).toEqual([]);
  });
});
