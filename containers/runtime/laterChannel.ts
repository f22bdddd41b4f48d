import type { ContainerChannel, ContainerFrame } from '../protocol/index.js';
import { LineChannel } from './lineChannel.js';

/** A channel to a container that is not there yet. */
export interface LaterChannel {
  readonly channel: ContainerChannel;
  /** From here on it is this one, unless nobody wants it any more: then that is closed. */
  connect(inner: ContainerChannel): void;
  /** There will be none. */
  fail(reason: string): void;
}

/** @param onOver called once, when it is closed or its container is down */
export function laterChannel(onOver: () => void = () => undefined): LaterChannel {
  let inner: ContainerChannel | undefined;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    onOver();
  };
  const channel = new LineChannel(0, {
    send: (_line, frame) => inner?.send(frame),
    stop: () => {
      end();
      inner?.close();
    },
    isUnheard: () => inner?.isUnheard?.() === true,
  });
  const deliver = (frame: ContainerFrame): void => {
    if (isOver) return;
    if (frame.kind === 'down') end();
    channel.deliver(frame);
  };
  return {
    channel,
    connect: (next) => {
      if (isOver) {
        next.close();
        return;
      }
      inner = next;
      next.open({ onFrame: deliver });
    },
    fail: (reason) => deliver({ kind: 'down', reason, isOutside: true }),
  };
}

/** To a container that cannot be started, for a reason outside of it. */
export function failedChannel(reason: string): ContainerChannel {
  const later = laterChannel();
  later.fail(reason);
  return later.channel;
}
