import { describe, expect, it } from 'vitest';
import type { PredictFrame, LaunchClass } from '../../containers/protocol/index.js';
import { elementOf, Serving } from './tests/serving.js';

const MS = 1e6;
const fixed = (maxBatchSize: number) => ({ strategy: 'fixed', maxBatchSize }) as const;

const application = (name: string, launchClass?: LaunchClass) => ({
  name,
  inputType: 'doubles' as const,
  defaultOutput: 'default',
  latencyObjectiveUs: 500_000,
  policy: { name: 'static', parameters: null },
  ...(launchClass === undefined ? {} : { launchClass }),
});

/** Two applications on one model: 'urgent' is critical, 'job' best-effort. */
function shared(): Serving {
  const serving = new Serving();
  serving.registry
    .putApplication(application('urgent', 'critical'))
    .putApplication(application('job', 'bestEffort'))
    .addModel('m', '1', fixed(4))
    .link('urgent', 'm')
    .link('job', 'm');
  return serving;
}

const seen = ({ items, launchClass }: PredictFrame) => [
  launchClass,
  ...items.map(({ bytes }) => elementOf(bytes)),
];

describe('applications of different classes on one model', () => {
  it('never share a batch, and the higher class goes first', () => {
    const serving = shared();
    const container = serving.container({ serviceNs: () => MS });
    for (let at = 0; at < 6; at++) {
      serving.predict(at, { application: at % 2 === 0 ? 'job' : 'urgent' });
    }
    serving.run();
    expect(container.frames.map(seen)).toEqual([
      ['critical', 1, 3, 5],
      ['bestEffort', 0, 2, 4],
    ]);
  });

  it('leave the last of a replica’s batches in flight to the higher class', () => {
    const serving = shared();
    const container = serving.container({ credits: 2, manual: true });
    for (let at = 0; at < 12; at++) serving.predict(at, { application: 'job' });
    serving.run(1);
    expect(container.frames.map(seen)).toEqual([['bestEffort', 0, 1, 2, 3]]);
    serving.predict(100, { application: 'urgent' });
    serving.run(2);
    expect(container.frames.slice(1).map(seen)).toEqual([['critical', 100]]);
    container.give(container.frames[0], container.resultsOf(container.frames[0]));
    serving.run(3);
    expect(container.frames).toHaveLength(2);
    container.give(container.frames[1], container.resultsOf(container.frames[1]));
    serving.run(4);
    expect(container.frames.slice(2).map(seen)).toEqual([['bestEffort', 4, 5, 6, 7]]);
  });

  it('fill a replica again once the higher class is gone', () => {
    const serving = shared();
    const container = serving.container({ credits: 2, manual: true });
    for (let at = 0; at < 12; at++) serving.predict(at, { application: 'job' });
    serving.run(1);
    serving.registry.removeApplication('urgent');
    serving.run(2);
    expect(container.sizes).toEqual([4, 4]);
  });

  it('share a prediction: who joins raises what waits to its class', () => {
    const serving = shared();
    const container = serving.container({ manual: true });
    serving.predict(0, { application: 'urgent' });
    serving.run(1);
    for (const value of [1, 2, 3]) serving.predict(value, { application: 'job' });
    serving.predict(3, { application: 'urgent' });
    serving.run(2);
    container.give(container.frames[0], container.resultsOf(container.frames[0]));
    serving.run(3);
    expect(seen(container.frames[1])).toEqual(['critical', 3]);
    container.give(container.frames[1], container.resultsOf(container.frames[1]));
    serving.run(4);
    expect(seen(container.frames[2])).toEqual(['bestEffort', 1, 2]);
  });

  it('lose nothing with a replica: each goes to the next one in its own class', () => {
    const serving = shared();
    const container = serving.container({ credits: 2, manual: true });
    for (const value of [1, 2]) serving.predict(value, { application: 'job' });
    serving.run(1);
    serving.predict(3, { application: 'urgent' });
    serving.run(2);
    container.die();
    const next = serving.container({ replica: 'r1', serviceNs: () => MS });
    serving.run();
    const classes = new Map(
      next.frames.flatMap(({ items, launchClass }) =>
        items.map(({ bytes }) => [elementOf(bytes), launchClass]),
      ),
    );
    expect(classes).toEqual(
      new Map([
        [3, 'critical'],
        [1, 'bestEffort'],
        [2, 'bestEffort'],
      ]),
    );
    expect(serving.answers.map(({ isDefault }) => isDefault)).toEqual([false, false, false]);
  });

  it('do not make the batch that they overtake look hung', () => {
    const serving = new Serving({ hangWatchdog: { minimumMs: 50, sharedThreadMs: 50 } });
    serving.registry
      .putApplication(application('urgent', 'critical'))
      .putApplication(application('job', 'bestEffort'))
      .addModel('m', '1', fixed(4))
      .link('urgent', 'm')
      .link('job', 'm');
    const container = serving.container({ credits: 2, manual: true });
    serving.predict(0, { application: 'job' });
    for (let at = 1; at < 20; at++) {
      serving.predict(at, { application: 'urgent' });
      serving.run(30 * at - 29);
      const last = container.frames.at(-1);
      if (last !== undefined) container.give(last, container.resultsOf(last));
      serving.run(30 * at);
    }
    expect(serving.engine.replicas()).toHaveLength(1);
  });
});

describe('a query’s class', () => {
  it('is its own, else the application’s, else the model’s, of which a batch says nothing', () => {
    const serving = new Serving();
    serving.registry
      .addApplication('app')
      .putApplication(application('job', 'bestEffort'))
      .putModel({
        name: 'm',
        version: '1',
        inputType: 'doubles',
        labels: [],
        container: { kind: 'kernelModel', path: 'nowhere', launchClass: 'critical' },
        batching: fixed(4),
      })
      .setVersion('m', '1')
      .link('app', 'm')
      .link('job', 'm');
    const container = serving.container();
    serving.predict(1);
    serving.run();
    serving.predict(2, { application: 'job' });
    serving.run();
    serving.predict(3, { launchClass: 'standard' });
    serving.run();
    expect(serving.refusals).toEqual([]);
    serving.predict(4, { application: 'job', launchClass: 'standard' });
    serving.run();
    expect(container.frames.map(seen)).toEqual([
      [undefined, 1],
      ['bestEffort', 2],
      ['standard', 3],
    ]);
    expect(serving.refusals.map(({ refusal }) => refusal)).toEqual([
      {
        code: 'invalid_input',
        field: 'launch_class',
        message:
          "launch_class 'standard' is above 'bestEffort', which is the highest here: leave it out, or give a lower one",
      },
    ]);
  });
});
