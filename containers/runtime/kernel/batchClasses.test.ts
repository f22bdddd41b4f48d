import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandSink, CompletionSink, DriverCommand } from '../../../simulator/driver/index.js';
import type { LaunchClass } from '../../../simulator/scheduling/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import { packageRoot } from '../../../simulator/files/index.js';
import { FrontendDouble, floats } from '../tests/frontendDouble.js';
import { VirtualNode } from '../virtualNode.js';

const SCALE = join(packageRoot(), 'containers/runtime/tests/scaleModel');

/** A container whose first launch, and what is behind it in its stream, is not submitted before `release` is called. */
function held(ownClass?: LaunchClass) {
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock, fuelPerBlock: 1e6 });
  const frontend = new FrontendDouble(
    node.start({
      model: 'scale',
      version: '1',
      replica: '0',
      inputType: 'floats',
      path: SCALE,
      ...(ownClass === undefined ? {} : { launchClass: ownClass }),
    }),
  );
  clock.run();
  const classes: (LaunchClass | undefined)[] = [];
  let stream: number | undefined;
  const waiting: (() => void)[] = [];
  node.gpuNode.interpose({
    onCommand: (command: DriverCommand, next: CommandSink, sink: CompletionSink) => {
      if (command.op === 'launch') classes.push(command.args.controls?.launchClass);
      if (command.op === 'launch') stream ??= command.stream;
      if (command.stream === stream) waiting.push(() => next.submit(command, sink));
      else next.submit(command, sink);
    },
  });
  const ask = (value: number, launchClass?: LaunchClass): number => {
    const batch = frontend.ask([floats(value, value)], launchClass);
    clock.run();
    return batch;
  };
  const release = (): void => {
    stream = -1;
    for (const submit of waiting.splice(0)) submit();
    clock.run();
  };
  return { classes, frontend, ask, release };
}

describe('batches of a kernel model, of different classes', () => {
  it('launch their kernels with it, and a higher one does not wait for a lower one to compute', () => {
    const { classes, frontend, ask, release } = held();
    const [low, high] = [ask(1, 'bestEffort'), ask(2, 'critical')];
    expect(classes).toEqual(['bestEffort', 'critical']);
    expect(frontend.outcomes(high)).toEqual(['[4,4]']);
    expect(frontend.result(low)).toBeUndefined();
    release();
    expect(frontend.outcomes(low)).toEqual(['[2,2]']);
  });

  it.each<[LaunchClass | undefined, LaunchClass | undefined, LaunchClass | undefined]>([
    [undefined, 'standard', undefined],
    ['critical', 'standard', undefined],
    ['bestEffort', 'bestEffort', undefined],
    [undefined, undefined, 'critical'],
  ])(
    'compute one after the other where the second is of no higher one: %s, %s',
    (first, second, ownClass) => {
      const { classes, frontend, ask, release } = held(ownClass);
      const batches = [ask(1, first), ask(2, second)];
      expect(classes).toEqual([first]);
      release();
      expect(classes).toEqual([first, second]);
      expect(batches.map((batch) => frontend.outcomes(batch))).toEqual([['[2,2]'], ['[4,4]']]);
    },
  );

  it('goes by the container’s own class where a batch says nothing', () => {
    const { classes, ask } = held('bestEffort');
    ask(1);
    ask(2, 'standard');
    expect(classes).toEqual([undefined, 'standard']);
  });
});
