import {
  builtInModelPath,
  loadKernelModel,
  planLaunches,
  type BuiltInModel,
} from '../../../containers/models/index.js';
import { KeyedDraw } from '../../../selection/index.js';
import type { StudiedModel } from './studiedModel.js';

/** A model that classifies digits, as it is served, with a batch of so many a pass. */
export function digitsModel(name: BuiltInModel, batch: number): StudiedModel {
  const { manifest, modules, weights, regions } = loadKernelModel(builtInModelPath(name));
  const [input] = regions.filter(({ kind }) => kind === 'input');
  const [output] = regions.filter(({ kind }) => kind === 'output');
  const next = new KeyedDraw(5).of(name);
  const pixels = new Uint8Array(Float32Array.from({ length: input.bytes / 4 }, () => next()).buffer);
  return {
    name,
    modules: new Map(modules.map((each) => [each.name, each.ptx])),
    buffers: new Map(
      regions.map((region) => {
        const contents = weights.get(region.name);
        return [region.name, { bytes: region.bytes, ...(contents === undefined ? {} : { contents }) }];
      }),
    ),
    input: { buffer: input.name, contents: pixels },
    output: output.name,
    launches: planLaunches(manifest, batch).map(({ pointers, ...launch }) => ({
      ...launch,
      pointers: pointers.map(({ offset, region }) => ({ offset, buffer: region })),
    })),
  };
}
