import { describe, expect, it } from 'vitest';
import { profileNamed } from '../../../simulator/gpu/index.js';
import { RowWorks, tableModule } from '../../../simulator/kernelTable/index.js';
import { arrivalsOf } from './loads.js';
import { kernelLists } from './kernelLists.js';
import { networkModel } from './networks.js';
import { operationVerdicts } from './operationVerdicts.js';
import { MODELS, ownWorkloads, realTrace } from './ownWorkloads.js';
import { runWorkload, withoutBestEffort, type ServedModel } from './study.js';
import { parseWorkload, type Workload } from './workload.js';

const CARD = profileNamed('v100');

function workload(name: string): Workload {
  const found = ownWorkloads(1).find((each) => each.name === name);
  if (found === undefined) throw new Error(`no workload ${name}`);
  return found;
}

describe('a workload of DISB', () => {
  const task = (changes: object) => ({
    id: 'vgg19_rt',
    load: { type: 'periodic', priority: 0, frequency: 100 },
    client: { name: 'vgg19_rt', model_name: 'vgg19-imagenet', batch_size: 1, triton_grpc_addr: 'localhost' },
    ...changes,
  });
  const text = (...tasks: readonly object[]): string => JSON.stringify({ time: 60, tasks });

  it('is read with its clients and loads', () => {
    const read = parseWorkload(text(task({}), task({ id: 'a_be', load: { type: 'continuous' } })), 'A.json');
    expect(read).toEqual({
      name: 'A.json',
      seconds: 60,
      tasks: [
        {
          id: 'vgg19_rt',
          model: 'vgg19',
          isRealTime: true,
          load: { type: 'periodic', priority: 0, frequency: 100 },
        },
        { id: 'a_be', model: 'vgg19', isRealTime: false, load: { type: 'continuous' } },
      ],
    });
  });

  it.each([
    [text(), /^A\.json: tasks: /],
    [text(task({ id: 'vgg19' })), /^A\.json: tasks\.0\.id: ends with neither '_rt' \(real time\) nor '_be'/],
    [text(task({ load: { type: 'dependent' } })), /^A\.json: tasks\.0\.load\.type: /],
    [text(task({ load: { type: 'poisson', frequency: 0 } })), /^A\.json: tasks\.0\.load\.frequency: /],
    [text(task({ load: { type: 'trace', trace: [] } })), /^A\.json: tasks\.0\.load\.trace: /],
  ])('that is wrong tells where: %s', (given, message) => {
    expect(() => parseWorkload(given, 'A.json')).toThrow(message);
  });

  it('has periodic clients of one frequency start apart, and others as they are told', () => {
    const first = arrivalsOf(workload('D'), 1).map((times) => times?.next().value as number | undefined);
    expect(first).toEqual([0, 10e6, 20e6, 30e6, 40e6, ...Array.from({ length: 5 }, () => undefined)]);
    const poisson = arrivalsOf(workload('E'), 1)[0];
    let last = 0;
    for (let number = 0; number < 2000; number++) last = Number(poisson?.next().value);
    expect(last / 2000 / 50e6).toBeCloseTo(1, 1);
  });

  it.each([
    ['resnet152', 375, 104, 0.12],
    ['densenet201', 202, 193, 0.22],
    ['vgg19', 560, 52, 1.59],
    ['inceptionv3', 374, 104, 0.23],
    ['distilbert', 173, 224, 0.39],
  ] as const)('REAL has arrivals of %s as it was counted', (model, requests, meanMs, variation) => {
    const times = realTrace(model, 1);
    const gaps = times.slice(1).map((at, index) => at - times[index]);
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
    expect(times).toHaveLength(requests);
    expect(mean / meanMs).toBeGreaterThan(0.92);
    expect(mean / meanMs).toBeLessThan(1.08);
    expect(deviation / mean / variation).toBeGreaterThan(0.85);
    expect(deviation / mean / variation).toBeLessThan(1.15);
  });
});

describe('models as kernel lists', () => {
  it.each([
    ['vgg19', 39.3],
    ['resnet152', 23.1],
    ['densenet201', 8.6],
    ['inceptionv3', 11.4],
  ] as const)('%s has the published %s billion operations', (name, billions) => {
    const flops = networkModel(name)
      .operations.filter(({ kind }) => ['convolution', 'pointwise', 'dense'].includes(kind))
      .reduce((sum, operation) => sum + operation.flops, 0);
    expect(flops / 1e9 / billions).toBeGreaterThan(0.97);
    expect(flops / 1e9 / billions).toBeLessThan(1.03);
  });

  const verdicts = operationVerdicts(1);
  const lists = kernelLists(CARD, verdicts);

  it('take what DISB measured of them alone', () => {
    const ms = MODELS.map((name) => {
      const rows = lists.get(name)?.rows ?? [];
      return rows.reduce((sum, { durationNs }) => sum + durationNs, 0) / 1e6;
    });
    const [, densenet, vgg, , distilbert] = ms;
    expect(densenet).toBeCloseTo(7.5, 2);
    expect(vgg).toBeCloseTo(2.77, 2);
    expect(distilbert).toBeCloseTo(1.2, 2);
    expect(ms.reduce((sum, each) => sum + each, 0) / 5).toBeCloseTo(3.7, 2);
  });

  it('are killed where kernels of the corpus that do the same may be', () => {
    const refused = [...verdicts].filter(([, { idempotent }]) => !idempotent);
    expect(refused.map(([kind, { cause }]) => [kind, cause])).toEqual([['embedding', 'NA']]);
    const embedding = lists.get('distilbert')?.rows[0];
    expect(embedding).toMatchObject({ name: 'embedding', idempotent: 0 });
  });

  it('wait less beside best-effort clients where those are killed, and all is the same twice', () => {
    const works = new RowWorks(CARD);
    const models = new Map(
      ['vgg19', 'resnet152'].map((name): [string, ServedModel] => {
        const list = lists.get(name as 'vgg19');
        if (list === undefined) throw new Error(name);
        const { inputBytes, outputBytes } = list.model;
        return [name, { table: tableModule(list.rows, name, works, CARD), inputBytes, outputBytes }];
      }),
    );
    const settings = { card: CARD, models, seconds: 0.25, seed: 1 };
    const a = workload('A');
    const alone = runWorkload(withoutBestEffort(a), 'fifo', settings);
    const [fifo, killed] = ['fifo', 'killRestart'].map((policy) => runWorkload(a, policy, settings));
    expect(alone.requests).toBe(25);
    expect(killed.requests).toBe(25);
    expect(killed.preemptions.kills).toBeGreaterThan(0);
    expect(killed.meanMs / alone.meanMs).toBeLessThan(1.01);
    expect(fifo.meanMs).toBeGreaterThan(killed.meanMs);
    expect(killed.bestEffortPerSecond).toBeGreaterThan(0.6 * fifo.bestEffortPerSecond);
    expect(runWorkload(a, 'killRestart', settings)).toEqual(killed);
  });
});
