import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DialledContainer } from '../../containers/runtime/index.js';
import type { InputType } from '../../containers/protocol/index.js';
import { isExternal, Registry, type ExternalModel } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { DialledContainers } from './index.js';
import { FakeContainer } from './tests/fakeContainer.js';

describe('DialledContainers', () => {
  let registry: Registry;
  let present: DialledContainer[];
  let opened: string[];
  let complaints: string[];
  let onChange: () => void;
  let nowMs: number;
  let dialled: DialledContainers;

  beforeEach(async () => {
    vi.useFakeTimers();
    registry = new Registry(new MemoryStore());
    present = [];
    opened = [];
    complaints = [];
    nowMs = 0;
    await register('m');
    dialled = new DialledContainers({
      dialIn: {
        containers: () => present,
        watch: (listener) => {
          onChange = listener;
          return () => undefined;
        },
      },
      registry,
      most: 100,
      complain: (_message, { model, reason }) => complaints.push(`${String(model)}: ${String(reason)}`),
      nowMs: () => nowMs,
    });
  });
  afterEach(() => {
    dialled.close();
    vi.useRealTimers();
  });

  function register(name: string, version = '1', inputType: InputType = 'doubles'): Promise<void> {
    return registry.addModel({
      name,
      version,
      inputType,
      labels: [],
      container: { kind: 'external', containerName: 'x', modelDataPath: '' },
      batching: { strategy: 'aimd' },
    });
  }

  function model(name = 'm', version = '1'): ExternalModel {
    const found = registry.model(name, version);
    if (found === undefined || !isExternal(found)) throw new Error(`${name} is not registered`);
    return found;
  }

  function come(name: string, count = 1, inputType: InputType = 'doubles'): DialledContainer[] {
    const coming = Array.from({ length: count }, (_, at) => ({
      model: name,
      version: '1',
      inputType,
      maxBatchSize: 1024,
      peer: `peer ${at}`,
      open: (replica: string) => {
        opened.push(`${name} ${replica}`);
        return new FakeContainer(model(name), Number(replica));
      },
    }));
    present = [...present, ...coming];
    onChange();
    return coming;
  }

  function go(gone: DialledContainer): void {
    present = present.filter((container) => container !== gone);
    onChange();
  }

  it('gives each container the lowest number that is free, for as long as it is there', () => {
    const [first] = come('m', 3);
    expect(dialled.numbers(model())).toEqual([0, 1, 2]);
    go(first);
    expect(dialled.numbers(model())).toEqual([1, 2]);
    come('m');
    expect(dialled.numbers(model())).toEqual([1, 2, 0]);
  });

  it('opens a container once', () => {
    come('m', 2);
    dialled.start(model(), 1);
    expect(opened).toEqual(['m 1']);
    expect(dialled.obstacle(model(), 1)).toBe('its container is gone');
    expect(dialled.obstacle(model(), 0)).toBeUndefined();
    expect(dialled.obstacle(model(), 2)).toBe('its container is gone');
  });

  it('keeps those that no registration fits until one does, and tells of them once', async () => {
    come('later');
    come('m', 1, 'integers');
    expect(dialled.numbers(model())).toEqual([]);
    await register('later');
    expect(dialled.numbers(model('later'))).toEqual([0]);
    onChange();
    expect(dialled.numbers(model())).toEqual([]);
    expect(complaints).toEqual([
      'later: no such version of a model is registered: it serves once it is',
      'm: it takes integers, and is registered with doubles',
    ]);
  });

  it('lets those go that serve a version which is registered anew, and not before', async () => {
    come('m', 2);
    const before = model();
    expect(dialled.numbers(before)).toEqual([0, 1]);
    dialled.start(before, 0);
    await registry.deleteVersion('m', '1');
    await register('m');
    // One is in use until its connection ends; the other is the new one's.
    expect(dialled.numbers(before)).toEqual([0]);
    expect(dialled.numbers(model())).toEqual([1]);
    go(present[0]);
    expect(dialled.numbers(before)).toEqual([]);
  });

  it('has no more than the most serve, and the next when one goes', async () => {
    await register('n');
    const [first] = come('m', 60);
    come('n', 60);
    expect(dialled.numbers(model())).toHaveLength(60);
    expect(dialled.numbers(model('n'))).toHaveLength(40);
    expect(complaints).toEqual(['n: 100 serve already, which are the most: see --clipper-max-containers']);
    go(first);
    expect(dialled.numbers(model('n'))).toHaveLength(41);
  });

  it('takes in slowly what comes and goes all the time, and others of other models at once', async () => {
    await register('n');
    let rounds = 0;
    for (; rounds < 100; rounds++) {
      const [one] = come('m');
      if (dialled.numbers(model()).length === 0) break;
      go(one);
      dialled.numbers(model());
    }
    expect(rounds).toBe(64);
    come('n');
    expect(dialled.numbers(model('n'))).toEqual([0]);
    const told = vi.fn();
    dialled.watchRoom(told);
    nowMs += 50;
    vi.advanceTimersByTime(50);
    expect(told).toHaveBeenCalledTimes(1);
    expect(dialled.numbers(model())).toEqual([0]);
  });
});
