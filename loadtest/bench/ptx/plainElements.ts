/** Element types that C has as they are. */
export type PlainType = 'f32' | 'i32';

export function isPlain(type: string): type is PlainType {
  return type === 'f32' || type === 'i32';
}

/** Elements over bytes that may begin anywhere. */
export function elementArray(type: PlainType, bytes: Uint8Array): Float32Array | Int32Array {
  const { buffer } = Uint8Array.from(bytes);
  return type === 'f32' ? new Float32Array(buffer) : new Int32Array(buffer);
}
