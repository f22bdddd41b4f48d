/** Above all addresses that a program can have. */
const LOCAL_BASE = 2 ** 49;
const LOCAL_WARP_BYTES = 2 ** 26;
const WARP_LANES = 32;
const WORD_BYTES = 4;

/** Where the card keeps a warp's local memory: the same word of its threads side by side. @param word behind the offsets */
export function localAddresses(warp: number, offsets: Float64Array, word: number, into: Float64Array): void {
  for (let lane = 0; lane < WARP_LANES; lane++) {
    const offset = offsets[lane] + word * WORD_BYTES;
    const within = offset % WORD_BYTES;
    into[lane] =
      LOCAL_BASE +
      warp * LOCAL_WARP_BYTES +
      ((offset - within) / WORD_BYTES) * WARP_LANES * WORD_BYTES +
      lane * WORD_BYTES +
      within;
  }
}
