/** The peer sent what ZMTP does not allow, or more than is taken; the connection cannot go on. */
export class ZmtpError extends Error {
  override readonly name = 'ZmtpError';
}
