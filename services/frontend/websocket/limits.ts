/** What WebSockets may cost: all of them together, and one. */
export interface WebSocketLimits {
  /** WebSockets open at once; a further handshake is answered 503. */
  readonly connections: number;
  /** Of a message; a larger one is answered with an error, one of more than twice the size ends the connection. */
  readonly messageBytes: number;
  /** Messages of one connection without an answer. */
  readonly inFlight: number;
  /** Inputs in flight; with more, the connection is not read from until answers have gone out. */
  readonly inputBytes: number;
  /** Answers that the client has not taken; with more, the connection is not read from until they are gone. */
  readonly outputBytes: number;
  /** Between pings; a connection from which nothing came in between is cut. */
  readonly pingMs: number;
}

/** Unlike a body a message is taken from the socket in one go, for which all others wait. */
export const DEFAULT_MESSAGE_BYTES = 4 * 1024 * 1024;

export const DEFAULT_WEB_SOCKET_LIMITS: Omit<WebSocketLimits, 'messageBytes'> = {
  connections: 4096,
  inFlight: 1024,
  inputBytes: 32 * 1024 * 1024,
  outputBytes: 1024 * 1024,
  pingMs: 30_000,
};
