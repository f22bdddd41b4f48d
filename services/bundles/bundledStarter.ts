import { join } from 'node:path';
import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
} from '../../containers/protocol/index.js';
import type { ContainerSource, ContainerStart } from '../../containers/runtime/index.js';
import type { BundleCache, HeldBundle } from './bundleCache.js';
import { BundleError } from './bundleError.js';

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
    return new FetchingChannel(async () => {
      try {
        const held = await this.cache.hold(contentHash);
        return { held, start: () => this.plain({ ...request, container: at(container, held) }) };
      } catch (error) {
        if (!(error instanceof BundleError)) throw error;
        if (error.code !== 'missing') {
          const { model, version } = request;
          this.complain('a model’s bundle cannot be fetched; it is started from its path', {
            model,
            version,
            reason: error.message,
          });
        }
        return { held: undefined, start: () => this.plain(request) };
      }
    });
  }
}

function at(
  container: Exclude<ContainerSource, { kind: 'constant' }>,
  { folder, entry }: HeldBundle,
): ContainerSource {
  return { ...container, path: container.kind === 'kernelModel' ? folder : join(folder, entry) };
}

interface Fetched {
  readonly held: HeldBundle | undefined;
  readonly start: () => ContainerChannel;
}

/** A channel to a container whose files are being fetched. */
class FetchingChannel implements ContainerChannel {
  private inner: ContainerChannel | undefined;
  private sink: FrameSink<ContainerFrame> | undefined;
  private held: HeldBundle | undefined;
  private isOver = false;

  constructor(fetch: () => Promise<Fetched>) {
    fetch().then(
      (fetched) => this.onFetched(fetched),
      (error: unknown) =>
        this.onFrame({ kind: 'down', reason: `its files cannot be fetched: ${String(error)}` }),
    );
  }

  send(frame: FrontendFrame): void {
    this.inner?.send(frame);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    this.inner?.open({ onFrame: (frame) => this.onFrame(frame) });
  }

  isUnheard(): boolean {
    return this.inner?.isUnheard?.() === true;
  }

  close(reason?: string): void {
    if (this.isOver) return;
    this.end();
    this.inner?.close(reason);
  }

  private onFetched({ held, start }: Fetched): void {
    this.held = held;
    if (this.isOver) {
      held?.release();
      return;
    }
    this.inner = start();
    if (this.sink !== undefined) this.inner.open({ onFrame: (frame) => this.onFrame(frame) });
  }

  private onFrame(frame: ContainerFrame): void {
    if (this.isOver) return;
    if (frame.kind === 'down') this.end();
    this.sink?.onFrame(frame);
  }

  /** Its files may go. */
  private end(): void {
    this.isOver = true;
    this.held?.release();
  }
}
