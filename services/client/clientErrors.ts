/** Why a call of a client failed. `code` is stable and meant for programs. */
export abstract class ClientError extends Error {
  abstract readonly code: string;
}

/** The server answered with an error of its catalogue (docs/errors.md). */
export class RefusedError extends ClientError {
  override readonly name = 'RefusedError';

  constructor(
    readonly code: string,
    /** Of HTTP, also for a refusal on a WebSocket. */
    readonly status: number,
    message: string,
    /** The part of the request at fault. */
    readonly field?: string,
  ) {
    super(message);
  }
}

/** No connection, or one that broke before the answer came: whether the request was taken is unknown. */
export class UnreachableError extends ClientError {
  override readonly name = 'UnreachableError';
  readonly code = 'unreachable';
}

/** No answer within the client's time limit. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';
}

/** The answer is not what this server would say: something else listens there. */
export class UnexpectedAnswerError extends ClientError {
  override readonly name = 'UnexpectedAnswerError';
  readonly code = 'unexpected_answer';
}
