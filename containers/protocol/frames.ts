import type { LaunchClass } from '../../simulator/scheduling/index.js';

/**
 * Frames between a frontend and a model container: the same records in process, across a thread and on a socket.
 * Version 2 brought `golden` of `hello` and `isOutside` of `down`.
 */
export const PROTOCOL_VERSION = 2;
/** The oldest that is still spoken with a peer of another build: sides that are one version apart work together. */
export const OLDEST_PROTOCOL_VERSION = 1;

export function isSpokenVersion(version: number): boolean {
  return Number.isInteger(version) && version >= OLDEST_PROTOCOL_VERSION && version <= PROTOCOL_VERSION;
}

/** Clipper's input types. */
export const INPUT_TYPES = ['integers', 'bytes', 'floats', 'doubles', 'strings'] as const;
export type InputType = (typeof INPUT_TYPES)[number];

/** Bytes an element of a numeric input takes (little-endian i32, f32, f64); 1 for bytes and UTF-8 strings. */
export const ELEMENT_BYTES: Readonly<Record<InputType, number>> = {
  integers: 4,
  bytes: 1,
  floats: 4,
  doubles: 8,
  strings: 1,
};

/** An input whose answer is known. */
export interface KnownAnswer {
  /** Numbers; of a model of strings the bytes of their UTF-8. */
  readonly input: readonly number[];
  /** The answer, where the model answers labels. */
  readonly label?: string | undefined;
  /** The scores, or the answer itself where the model answers values. */
  readonly scores?: readonly number[] | undefined;
}

export interface KnownAnswers {
  /** A score is right within `tolerance` times the larger of 1 and its size. */
  readonly tolerance: number;
  readonly cases: readonly KnownAnswer[];
}

/** Who a replica is: its first frame. */
export interface HelloFrame {
  readonly kind: 'hello';
  readonly protocolVersion: number;
  readonly model: string;
  readonly version: string;
  readonly replica: string;
  readonly inputType: InputType;
  /** Elements an input must have; undefined when any length will do. */
  readonly inputLength?: number;
  /** The largest batch that the container takes. */
  readonly maxBatchSize: number;
  /** Batches it takes before the first one is answered. */
  readonly credits: number;
  /** The first of the model's golden inputs, or what is wrong with them. */
  readonly golden?: KnownAnswers | { readonly problem: string };
}

export interface BatchItem {
  readonly id: number;
  /** Kept by the frontend until the item is answered, for a retry elsewhere: a channel copies and never transfers it. */
  readonly bytes: Uint8Array;
  /** Time left until the item's deadline when the frame was sent, in nanoseconds. */
  readonly budgetNs: number;
}

export interface PredictFrame {
  readonly kind: 'predict';
  readonly batchId: number;
  readonly items: readonly BatchItem[];
  /** W3C trace context of the batch, when there is one. */
  readonly traceparent?: string;
  /** Of the launches that compute it; the container's own when absent. Of no meaning where no kernels are launched. */
  readonly launchClass?: LaunchClass | undefined;
  /** Its inputs travel apart, since they may be bad: how many of others' are says nothing about them, nor they about others. */
  readonly isSuspect?: boolean;
}

/** Items nobody waits for any more; the container may skip them and answer them `cancelled`. */
export interface CancelFrame {
  readonly kind: 'cancel';
  readonly batchId: number;
  readonly itemIds: readonly number[];
}

export type ItemResult =
  | {
      readonly id: number;
      readonly ok: true;
      /** JSON text, or any other string: the answer embeds it as JSON when it parses. */
      readonly output: string;
      /** Per-class scores, when the model has them. */
      readonly scores?: Float32Array;
    }
  | {
      readonly id: number;
      readonly ok: false;
      /** `undecided`: its batch has failed, and whether for its sake was not found out. It may be asked again. */
      readonly code: 'invalidInput' | 'modelError' | 'kernelFault' | 'cancelled' | 'undecided';
      readonly message: string;
    };

export interface ResultFrame {
  readonly kind: 'result';
  readonly batchId: number;
  readonly results: readonly ItemResult[];
  /**
   * Nanoseconds that the batch took in the container: no queueing in the frontend, and what it waited for batches before it
   * only where `parts` says how long that was. Simulated time; on a node paced by the wall, the host's time where that is
   * longer, since the answer cannot leave sooner.
   */
  readonly serviceNs: number;
  /** What of it was not computing, where the container can tell. */
  readonly parts?: ServiceParts;
  /**
   * Of a container that asks a batch that has failed again in parts: how often it asked its model; 0 where no input can spoil
   * another's answer. Whoever fails then fails by itself.
   */
  readonly calls?: number;
}

/** Parts of a batch's service time, in nanoseconds; the rest of it is computing. */
export interface ServiceParts {
  /** Waiting inside the container for batches before it. */
  readonly waitNs: number;
  /** Bringing the inputs to where they are computed. */
  readonly inputNs: number;
  /** Bringing the outputs back. */
  readonly outputNs: number;
}

/**
 * Widens the window that `hello` opened by `credits` batches. An answered batch gives its own credit back without a
 * frame, so a container that keeps its window never sends one.
 */
export interface CreditFrame {
  readonly kind: 'credit';
  readonly credits: number;
}

/** The container cannot go on; every batch in flight is lost with it. */
export interface DownFrame {
  readonly kind: 'down';
  readonly reason: string;
  /** Nothing that it was asked has to do with it: the way to it broke, or its node is gone. */
  readonly isOutside?: boolean;
}

export const PRINT_STREAMS = ['stdout', 'stderr'] as const;

/** What a model has printed, for a log. Says nothing of any batch. */
export interface PrintedFrame {
  readonly kind: 'printed';
  readonly text: string;
  /** Of the model's process; undefined for what its kernels print. */
  readonly stream?: (typeof PRINT_STREAMS)[number];
}

export type FrontendFrame = PredictFrame | CancelFrame;
export type ContainerFrame = HelloFrame | ResultFrame | CreditFrame | PrintedFrame | DownFrame;

export interface FrameSink<F> {
  onFrame(frame: F): void;
}

/** A frontend's line to one replica. A lost line shows as a `down` frame, once. */
export interface ContainerChannel {
  send(frame: FrontendFrame): void;
  /** Must be called once, before the first `send`; `hello` arrives first. */
  open(sink: FrameSink<ContainerFrame>): void;
  /** @param reason for whoever watches over the replica. */
  close(reason?: string): void;
  /**
   * Nothing has come from the other side of late, of this replica or any other: that it does not answer says nothing of what
   * it was asked. Absent where there is no way that could break.
   */
  isUnheard?(): boolean;
}
