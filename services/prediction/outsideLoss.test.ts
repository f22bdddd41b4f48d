import { beforeEach, describe, expect, it } from 'vitest';
import { Serving } from './tests/serving.js';

const MS = 1e6;
const PATIENT_US = 60e6;
const BAD = 666;

describe('a replica that is lost with the way to it', () => {
  let serving: Serving;
  /** Of replicas apart from the others. */
  const requests: boolean[] = [];

  beforeEach(() => {
    requests.length = 0;
    serving = new Serving({
      requestApart: (_name, _version, isWanted) => {
        requests.push(isWanted);
        return true;
      },
    }).simple({ strategy: 'fixed', maxBatchSize: 8 }, PATIENT_US);
  });

  it('accuses nothing of what it was asked, however often that happens', () => {
    let container = serving.container({ replica: 'r0', manual: true });
    const id = serving.predict(BAD);
    for (let time = 1; time <= 6; time++) {
      serving.run(serving.clock.nowNs() / MS + 1);
      expect(container.items).toBe(1);
      container.emit({ kind: 'down', reason: 'the cable', isOutside: true });
      container = serving.container({ replica: `r${time}`, manual: time < 6 });
    }
    serving.run();
    expect(serving.answer(id)).toMatchObject({ isDefault: false, output: `${BAD}` });
    expect(requests).toEqual([]);
  });

  it.each([true, false])(
    'accuses what it hangs with only where its node is heard: unheard %s',
    (isUnheard) => {
      const hangs = (element: number): boolean => element === BAD;
      const hung = serving.container({ replica: 'hung', hangs, serviceNs: () => 10 * MS });
      Object.assign(hung, { isUnheard: () => isUnheard });
      for (let at = 0; at < 20; at++) serving.predict(at);
      serving.run(1000);
      const id = serving.predict(BAD);
      while (!hung.closed) serving.clock.step();
      if (isUnheard) serving.container({ replica: 'r1' });
      serving.run(5000);
      expect(requests).toEqual(isUnheard ? [] : [true]);
      if (isUnheard) expect(serving.answer(id)).toMatchObject({ isDefault: false, output: `${BAD}` });
    },
  );
});
