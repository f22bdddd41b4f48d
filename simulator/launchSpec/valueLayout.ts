import { TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES } from '../tensorMaps/index.js';
import { ELEMENT_TYPES, elementBytes, type ElementType } from './elementTypes.js';
import { LaunchSpecError } from './launchSpecError.js';
import type { PlacedValue, ScalarArgument, StructSpec } from './argumentSchema.js';

const POINTER_BYTES = 8;

export interface ValueSize {
  readonly bytes: number;
  readonly align: number;
}

/** A field with its place in the structure. */
export interface LaidField {
  readonly value: PlacedValue;
  readonly offset: number;
  readonly bytes: number;
  /** Its path in the spec, for messages. */
  readonly path: string;
}

/** `i32`, `struct`, … */
export function kindOf(value: PlacedValue): string {
  return Object.keys(value).find((key) => key !== 'offset') ?? '';
}

/** The type of a scalar value, or undefined for one that is something else. */
export function scalarType(value: PlacedValue): ElementType | undefined {
  return ELEMENT_TYPES.find((type) => type in value);
}

export function scalarValue(value: PlacedValue, type: ElementType): number | string {
  return (value as ScalarArgument & Record<ElementType, number | string>)[type];
}

/**
 * What a value takes in memory. @param path its own in the spec, for messages
 * @throws LaunchSpecError `invalidSpec` for structures whose fields overlap or leave it
 */
export function sizeOf(value: PlacedValue, path: string): ValueSize {
  if ('buffer' in value || 'pointer' in value || 'texture' in value || 'surface' in value)
    return { bytes: POINTER_BYTES, align: POINTER_BYTES };
  if ('tensorMap' in value) return { bytes: TENSOR_MAP_BYTES, align: TENSOR_MAP_ALIGN };
  if ('array' in value) {
    const align = elementBytes(value.array.type);
    return { bytes: value.array.count * align, align };
  }
  if ('struct' in value) {
    const { bytes, align } = layOutStruct(value.struct, `${path}.struct`);
    return { bytes, align };
  }
  const bytes = elementBytes(scalarType(value) ?? 'u64');
  return { bytes, align: bytes };
}

/**
 * Places a structure's fields as C does: each at its natural alignment behind the one before, unless it says where.
 * @throws LaunchSpecError `invalidSpec` for fields that overlap or leave the structure
 */
export function layOutStruct(struct: StructSpec, path: string): ValueSize & { readonly fields: LaidField[] } {
  const fields: LaidField[] = [];
  let [end, widest] = [0, 1];
  struct.fields.forEach((value, index) => {
    const own = `${path}.fields[${index}]`;
    const { bytes, align } = sizeOf(value, own);
    const offset = value.offset ?? roundUp(end, align);
    const other = fields.find(
      (field) => offset < field.offset + field.bytes && field.offset < offset + bytes,
    );
    if (other !== undefined) {
      throw new LaunchSpecError(
        'invalidSpec',
        `${own}: bytes [${offset}, ${offset + bytes}) overlap ${other.path} at [${other.offset}, ${other.offset + other.bytes})`,
        own,
      );
    }
    fields.push({ value, offset, bytes, path: own });
    end = offset + bytes;
    widest = Math.max(widest, align);
  });
  const last = Math.max(...fields.map(({ offset, bytes }) => offset + bytes));
  const bytes = struct.bytes ?? roundUp(last, widest);
  if (last > bytes) {
    throw new LaunchSpecError(
      'invalidSpec',
      `${path}.bytes: ${bytes}, but its fields end at ${last}; give at least that, or none`,
      `${path}.bytes`,
    );
  }
  return { fields, bytes, align: widest };
}

function roundUp(value: number, align: number): number {
  return Math.ceil(value / align) * align;
}
