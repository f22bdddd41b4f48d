import { inputFormOf } from '../../services/registry/index.js';
import {
  measureHost,
  readHostTimes,
  writeHostTimes,
  type HostTimes,
  type MeasuredModel,
} from '../hostTimes/index.js';
import { askNoop } from '../load/index.js';
import { LoadError } from '../trace/index.js';
import type { ReplayedModel, ReplaySettings } from './replaySettings.js';

/**
 * The host times that an option asks for.
 * @param option a file; `measure`; or `measure:FILE`, to keep them
 * @throws LoadError
 */
export async function hostTimesOf(
  option: string,
  settings: ReplaySettings,
  onProgress: (text: string) => void,
): Promise<HostTimes> {
  if (settings.nodes > 1) {
    throw new LoadError(
      '--host-times',
      'they are those of one node, whose models share a thread: leave --nodes out',
    );
  }
  const [, path] = /^measure(?::(.+))?$/.exec(option) ?? [undefined, option];
  if (option === path) return readHostTimes(path);
  const times = await measureHost({
    models: settings.models.flatMap((model) => measured(model)),
    gpus: settings.gpus,
    seed: settings.seed,
    ask: askNoop,
    onProgress,
  });
  if (path !== undefined) writeHostTimes(path, times);
  return times;
}

function measured({ record, synthetic }: ReplayedModel): MeasuredModel[] {
  const { name: model, version, inputType, inputLength, container } = record;
  if (synthetic !== undefined || container.kind !== 'kernelModel') return [];
  const length = inputLength === undefined ? {} : { inputLength };
  return [
    { start: { model, version, replica: '0', inputType, ...length, container }, form: inputFormOf(record) },
  ];
}
