/**
 * Where generic addresses lie. The high 32 bits alone tell the space, so that compiled code needs one compare:
 *
 *   0x0000_0000_xxxxxxxx  nothing: null pointers and small integers fault
 *   0x0000_0001_xxxxxxxx  the block's shared memory, x = shared offset
 *   0x0000_0002_xxxxxxxx  the thread's local memory, x = local offset
 *   0x0000_0003_xxxxxxxx  names of functions: nothing to read or write there
 *   0x0000_0004_xxxxxxxx  the kernel's parameters, x = offset; read-only
 *   0x4000_0000_0000 …    global memory: one window of 2 TiB for each GPU of a context
 */
export const SHARED_WINDOW_HIGH = 1;
export const LOCAL_WINDOW_HIGH = 2;
export const SHARED_WINDOW_BASE = SHARED_WINDOW_HIGH * 2 ** 32;
export const LOCAL_WINDOW_BASE = LOCAL_WINDOW_HIGH * 2 ** 32;
/** Functions have addresses from here on, so that tables of them can be initialised and pointers compared. */
export const FUNCTION_WINDOW_BASE = 3 * 2 ** 32;
/** Kernel parameters, which `cvta.param` makes generic. */
export const PARAM_WINDOW_HIGH = 4;
export const PARAM_WINDOW_BASE = PARAM_WINDOW_HIGH * 2 ** 32;

/**
 * In clusters bits 24 and up of a shared address are the rank of the block whose it is, as on the card: a block of rank 0, and so
 * one that is in no cluster, has its shared memory from 0 on.
 */
export const CLUSTER_RANK_SHIFT = 24;
export const CLUSTER_RANK_STEP = 2 ** CLUSTER_RANK_SHIFT;

/** First global address of GPU 0. */
export const GLOBAL_BASE = 2 ** 46;
/** Bytes of virtual addresses of one GPU in one context. */
export const GLOBAL_WINDOW_BYTES = 2 ** 41;
/** GPUs that one context can address: the windows end at 2^47. */
export const MAX_GPU_WINDOWS = 32;

/** Start of every segment is a multiple of this, as cudaMalloc promises. */
export const SEGMENT_ALIGN = 256;
/** At least so many unmapped bytes between two segments. */
export const GUARD_BYTES = 4096;
/** Pages in which a card maps memory. */
export const CARD_PAGE_BYTES = 2 ** 21;

/**
 * What lies around a segment. 'exact': nothing, so that every access outside it faults. 'card': the rest of its pages, which
 * are its own, and right behind them those of the next, as on a card: accesses just outside go through.
 */
export type Guard = 'exact' | 'card';
export const GUARDS: readonly Guard[] = ['exact', 'card'];

/** How segments are laid out: multiples of `unit` bytes are mapped, at multiples of `align`, with `gap` bytes left free between. */
export interface SegmentLayout {
  readonly unit: number;
  readonly align: number;
  readonly gap: number;
}

export const LAYOUTS: Readonly<Record<Guard, SegmentLayout>> = {
  exact: { unit: 1, align: SEGMENT_ALIGN, gap: GUARD_BYTES },
  card: { unit: CARD_PAGE_BYTES, align: CARD_PAGE_BYTES, gap: 0 },
};
