import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../../services/cli/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { INTERRUPTED } from './endings.js';
import { LoadCounts, type LoadImage } from './loadCounts.js';
import type { ToParent, ToProcess } from './loadMessages.js';
import type { LoadPlan } from './loadPlan.js';
import { runLoad, type RunProgress } from './loadRun.js';
import { wallNs } from './wallClock.js';

/** From when all are ready until the first query. */
const HEAD_START_NS = 50e6;

/**
 * Makes a load, in this process or in several, and puts together what they have counted.
 * @param onReady awaited once all are warm, before the first query that counts
 * @throws LoadError, ClientError, CommandError
 */
export async function makeLoad(
  plan: LoadPlan,
  onProgress: (progress: RunProgress) => void,
  signal: AbortSignal,
  onReady: () => Promise<void> = () => Promise.resolve(),
): Promise<LoadCounts> {
  if (plan.processes === 1) {
    const ready = async (): Promise<number> => {
      await onReady();
      return wallNs() + HEAD_START_NS;
    };
    return runLoad(plan, { part: 0, ready, onProgress, signal });
  }
  const parts = Array.from({ length: plan.processes }, (_, part) => new LoadPart(plan, part));
  const endAll = (): void => parts.forEach((part) => part.say({ kind: 'end' }));
  signal.addEventListener('abort', endAll);
  const onPart = (): void => onProgress(together(parts.map(({ progress }) => progress)));
  for (const part of parts) part.onProgress = onPart;
  try {
    await Promise.all(parts.map(({ isReady }) => isReady));
    await onReady();
    const startNs = wallNs() + HEAD_START_NS;
    parts.forEach((part) => part.say({ kind: 'start', startNs }));
    // Without one of them it is another load: the others end, and what they have counted is kept.
    const ends = await Promise.allSettled(
      parts.map(async ({ image }) => {
        try {
          const counted = await image;
          if (counted.endedEarly !== null) endAll();
          return counted;
        } catch (error) {
          endAll();
          throw error;
        }
      }),
    );
    const images = ends.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const failure = ends.find((one) => one.status === 'rejected');
    if (failure !== undefined && images.length === 0) throw failure.reason;
    const counts = new LoadCounts(plan);
    const first = images.find(({ endedEarly }) => endedEarly !== null && endedEarly !== INTERRUPTED);
    for (const image of images) counts.add(image);
    if (first !== undefined) counts.endedEarly = first.endedEarly;
    if (failure !== undefined) {
      const lost = parts.length - images.length;
      counts.endedEarly = `${reasonOf(failure.reason)}: what ${lost} of ${parts.length} processes have counted is missing`;
    }
    return counts;
  } finally {
    signal.removeEventListener('abort', endAll);
    for (const part of parts) part.end();
  }
}

function together(all: readonly RunProgress[]): RunProgress {
  const sum = (field: 'arrivals' | 'answers' | 'inFlight') =>
    all.reduce((total, one) => total + one[field], 0);
  const [first] = all;
  return {
    arrivals: sum('arrivals'),
    answers: sum('answers'),
    inFlight: sum('inFlight'),
    share: first.share,
  };
}

/** A process that makes a part of the load. */
class LoadPart {
  progress: RunProgress = { arrivals: 0, answers: 0, inFlight: 0, share: undefined };
  onProgress: () => void = () => undefined;
  readonly isReady: Promise<void>;
  readonly image: Promise<LoadImage>;
  private readonly child: ChildProcess;

  constructor(plan: LoadPlan, part: number) {
    this.child = fork(fileURLToPath(new URL('./loadProcess.js', import.meta.url)), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.isReady = new Promise((resolve, reject) => this.listen('ready', () => resolve(), reject));
    this.image = new Promise((resolve, reject) =>
      this.listen('counts', ({ image }) => resolve(image), reject),
    );
    this.child.on('message', (message: ToParent) => {
      if (message.kind !== 'progress') return;
      this.progress = message.progress;
      this.onProgress();
    });
    this.isReady.catch(() => undefined);
    this.image.catch(() => undefined);
    this.say({ kind: 'plan', plan, part });
  }

  say(message: ToProcess): void {
    if (this.child.connected) this.child.send(message);
  }

  /** For a message of a kind; or for why it will not come. */
  private listen<K extends ToParent['kind']>(
    kind: K,
    onMessage: (message: Extract<ToParent, { kind: K }>) => void,
    onFailure: (error: Error) => void,
  ): void {
    this.child.once('error', onFailure);
    this.child.once('exit', (code, by) =>
      onFailure(new CommandError(`a load process has ended (${by ?? code})`)),
    );
    this.child.on('message', (message: ToParent) => {
      if (message.kind === 'failed') onFailure(new CommandError(message.message));
      else if (message.kind === kind) onMessage(message as Extract<ToParent, { kind: K }>);
    });
  }

  end(): void {
    this.child.kill('SIGTERM');
  }
}
