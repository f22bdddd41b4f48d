import type { ContainerChannel } from '../../containers/protocol/index.js';
import { laterChannel, type ContainerStart } from '../../containers/runtime/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { BundleCache, HeldBundle } from './bundleCache.js';
import { BundleError } from './bundleError.js';
import { bundlePath } from './bundlePath.js';

type Start = (request: ContainerStart) => ContainerChannel;

/**
 * Starts containers from the files of their version, wherever those were registered: fetched by their hash. What nobody has put
 * there, and what cannot be fetched at present, is started from the path that was registered; its files are checked by the same hash.
 */
export class BundledStarter {
  constructor(
    private readonly cache: BundleCache,
    private readonly plain: Start,
    private readonly complain: (message: string, details: Readonly<Record<string, unknown>>) => void,
  ) {}

  start(request: ContainerStart): ContainerChannel {
    const { contentHash, container } = request;
    if (contentHash === undefined || container.kind === 'constant') return this.plain(request);
    let held: HeldBundle | undefined;
    let isWanted = true;
    const later = laterChannel(() => {
      isWanted = false;
      held?.release();
    });
    this.fetched(request, contentHash).then(
      (bundle) => {
        held = bundle;
        if (!isWanted) bundle?.release();
        else
          later.connect(
            this.plain(
              bundle === undefined
                ? request
                : { ...request, container: { ...container, path: bundlePath(container.kind, bundle) } },
            ),
          );
      },
      (error: unknown) => later.fail(`its files cannot be fetched: ${reasonOf(error)}`),
    );
    return later.channel;
  }

  /** @returns undefined where the path is to be used */
  private async fetched({ model, version }: ContainerStart, hash: string): Promise<HeldBundle | undefined> {
    try {
      return await this.cache.hold(hash);
    } catch (error) {
      if (!(error instanceof BundleError)) throw error;
      if (error.code !== 'missing') {
        const { message: reason } = error;
        this.complain('a model’s bundle cannot be fetched; it is started from its path', {
          model,
          version,
          reason,
        });
      }
      return undefined;
    }
  }
}
