export type ExecutorErrorCode =
  /** The launch's shape or arguments do not fit the kernel or the executor. */
  | 'invalidLaunch'
  /** A suspended run that is another executor's or has been resumed before. */
  | 'invalidResume'
  /** The launch's address space is not one of this executor's node. */
  | 'foreignSpace'
  /** A host thread that ran blocks of the launch has failed or died; what the launch has written is open. */
  | 'threadLost';

/** A launch that cannot be started. What goes wrong inside a kernel is a fault in the result instead. */
export class ExecutorError extends Error {
  readonly code: ExecutorErrorCode;

  constructor(code: ExecutorErrorCode, message: string) {
    super(message);
    this.name = 'ExecutorError';
    this.code = code;
  }
}
