import type { NodeHost } from '../../containers/runtime/index.js';
import { ServiceError } from '../errors/index.js';

type Recorder = Pick<NodeHost, 'name' | 'record' | 'stopRecording'>;

export interface TimelineRequest {
  /** The first node's unless given. */
  readonly node?: string | undefined;
  /** Of host time. */
  readonly seconds: number;
  /** Characters after which events are left out. */
  readonly limit: number;
  /** Nobody waits for it any more: it ends, so that others can record. */
  readonly gone?: AbortSignal;
}

/**
 * The timeline of a node, recorded for a while: JSON in Chrome's trace event format. It is held in memory, up to the
 * request's limit.
 * @throws ServiceError (as a rejection)
 */
export function recordTimeline(host: Recorder | undefined, request: TimelineRequest): Promise<string> {
  const { node, seconds, limit, gone } = request;
  return new Promise((resolve, reject) => {
    if (host === undefined) {
      const which = node === undefined ? 'there is no GPU node' : `there is no GPU node '${node}'`;
      reject(new ServiceError('unknown_node', which, 'node'));
      return;
    }
    const pieces: string[] = [];
    let timer: NodeJS.Timeout | undefined;
    const stop = (): void => host.stopRecording();
    const answer = host.record(limit, {
      onText: (text) => pieces.push(text),
      onEnd: (failure) => {
        clearTimeout(timer);
        gone?.removeEventListener('abort', stop);
        if (failure === undefined) resolve(pieces.join(''));
        else reject(new ServiceError('node_down', failure));
      },
    });
    if (answer === 'recording')
      reject(
        new ServiceError(
          'recording',
          `GPU node '${host.name}' is being recorded already; try again when that is over`,
        ),
      );
    else if (answer === 'down')
      reject(new ServiceError('node_down', `GPU node '${host.name}' is not running`));
    else {
      timer = setTimeout(stop, seconds * 1000);
      gone?.addEventListener('abort', stop);
      if (gone?.aborted === true) stop();
    }
  });
}
