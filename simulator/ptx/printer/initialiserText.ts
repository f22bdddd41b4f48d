import type { IrVariable, ScalarType } from '../ir.js';
import { typeBytes } from '../scalarTypes.js';
import { floatText, integerText } from './operandText.js';

type Relocation = NonNullable<IrVariable['relocations']>[number];

const ADDRESS_BYTES = 8;

/** What follows a variable's extent, with its `=`: one value, or all that are given in braces. */
export function initialiserText(variable: IrVariable, initial: Uint8Array): string {
  const size = typeBytes(variable.type);
  const view = new DataView(initial.buffer, initial.byteOffset, initial.byteLength);
  const addresses = new Map(variable.relocations?.map((relocation) => [relocation.offset, relocation]));
  const values: string[] = [];
  for (let offset = 0; offset < initial.length;) {
    const address = addresses.get(offset);
    if (address === undefined) {
      values.push(valueText(variable.type, view, offset));
      offset += size;
      continue;
    }
    values.push(...addressTexts(address, size));
    offset += address.part === undefined ? ADDRESS_BYTES : size;
  }
  if (variable.bytes > size) return ` = {${values.join(', ')}}`;
  return values.length === 0 ? '' : ` = ${values.join(', ')}`;
}

function valueText(type: ScalarType, view: DataView, offset: number): string {
  const size = typeBytes(type);
  if (type === 'f32')
    return floatText({ kind: 'float', width: 32, low: view.getInt32(offset, true), high: 0 });
  if (size >= 8) {
    const [low, high] = [view.getInt32(offset, true), view.getInt32(offset + 4, true)];
    return type === 'f64' ? floatText({ kind: 'float', width: 64, low, high }) : integerText(low, high);
  }
  if (type === 'f16x2') return `{${view.getUint32(offset, true)}}`;
  const isSigned = type.startsWith('s');
  if (size === 4) return String(isSigned ? view.getInt32(offset, true) : view.getUint32(offset, true));
  if (size === 2) return String(isSigned ? view.getInt16(offset, true) : view.getUint16(offset, true));
  return String(isSigned ? view.getInt8(offset) : view.getUint8(offset));
}

/** An address, or its parts from the lowest on where elements are narrower. */
function addressTexts({ symbol, addend, generic, part: kept }: Relocation, size: number): string[] {
  const sum = addend === 0 ? '' : addend < 0 ? `-${-addend}` : `+${addend}`;
  const whole = `${generic ? `generic(${symbol})` : symbol}${sum}`;
  if (size === ADDRESS_BYTES) return [whole];
  if (kept?.bytes === 4 && kept.shift === 0) return [whole];
  if (kept !== undefined) return [`${maskText(0xffn << BigInt(kept.shift))}(${whole})`];
  const ones = (1n << BigInt(8 * size)) - 1n;
  const parts = Array.from({ length: ADDRESS_BYTES / size }, (_, part) => ones << BigInt(8 * size * part));
  return parts.map((mask) => `${maskText(mask)}(${whole})`);
}

function maskText(mask: bigint): string {
  return `0x${mask.toString(16).toUpperCase()}`;
}
