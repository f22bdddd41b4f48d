/** Busy shares from here to 1 are told apart; kernels take microseconds, so that even a busy server's SMs rest mostly. */
export const COOLEST_SHARE = 1e-5;

/** Colour strength from 0 to 1, on a logarithmic scale. Whatever worked at all shows. */
export function heatOf(busyShare: number): number {
  if (!(busyShare > 0)) return 0;
  const decades = -Math.log10(COOLEST_SHARE);
  return Math.min(1, Math.max(0.05, 1 + Math.log10(busyShare) / decades));
}
