import type { InputForm, InputType } from '../../../containers/protocol/index.js';
import { describeValue, ServiceError } from '../../errors/index.js';
import { checkBinaryInput } from '../binaryInputs.js';
import { encodeInput } from '../inputs.js';
import { binaryNumberRows, binaryTextRows } from './binaryData.js';
import { DATATYPES, INPUT_DATATYPES, type Datatype } from './datatypes.js';
import { leavesOf, NumberRows, rowsOf, type InputRows } from './tensorRows.js';

const MAX_RANK = 8;

/** One tensor of a request, its JSON not yet checked. */
export interface InputTensor {
  readonly name: string;
  readonly datatype: unknown;
  readonly shape: unknown;
  readonly data: unknown;
  /** What came in place of `data`. */
  readonly binary: Buffer | undefined;
  /** Elements of BYTES are base64, by the tensor's parameter `content_type`. */
  readonly isBase64: boolean;
}

/**
 * The rows of a tensor, each the bytes of one input: little-endian, UTF-8 for text.
 * @param form what a row must be
 * @param maxRows of the first dimension
 * @param field what errors call the tensor: `inputs[0]`
 * @throws ServiceError before anything is allocated that the data does not fill
 */
export function tensorRows(form: InputForm, tensor: InputTensor, maxRows: number, field: string): InputRows {
  const { type, length } = form;
  const datatype = checkDatatype(type, tensor.datatype, field);
  const shape = checkShape(tensor.shape, maxRows, field);
  const rowElements = shape.slice(1).reduce((product, size) => product * size, 1);
  const wanted = datatype === 'BYTES' ? 1 : length;
  if (wanted !== undefined && rowElements !== wanted) {
    const allowed = datatype === 'BYTES' ? '[n] or [n, 1]' : `[n, ${wanted}]`;
    throw new ServiceError(
      'wrong_length',
      `${field}.shape must be ${allowed}, [${shape.join(', ')}] came`,
      field,
    );
  }
  const { binary, isBase64 } = tensor;
  if (binary !== undefined) {
    const named = `${field} ('${tensor.name}')`;
    return rowsOf(
      datatype === 'BYTES'
        ? binaryTextRows(form, binary, shape[0], isBase64, named)
        : binaryNumberRows(form, binary, shape[0], rowElements, named),
    );
  }
  const place = `${field}.data`;
  const leaves = leavesOf(tensor.data, shape, place);
  if (datatype !== 'BYTES') return new NumberRows(form, leaves, shape[0], rowElements, place);
  return rowsOf(
    textRows(
      form,
      leaves.flatMap((leaf) => [...leaf]),
      isBase64,
      place,
    ),
  );
}

function checkDatatype(type: InputType, datatype: unknown, field: string): Datatype {
  const allowed = INPUT_DATATYPES[type];
  const found = DATATYPES.find((one) => one === datatype);
  if (found !== undefined && allowed.includes(found)) return found;
  const place = `${field}.datatype`;
  if (datatype === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
  const message =
    found === undefined
      ? `${place} must be one of ${DATATYPES.join(', ')}, ${describeValue(datatype)} came`
      : `${place} must be ${allowed.join(' or ')} here, ${found} came`;
  throw new ServiceError('invalid_value', message, place);
}

/** The extents of a tensor, the first of at most `maxRows`. @throws ServiceError that names the field */
export function checkShape(shape: unknown, maxRows: number, field: string): readonly number[] {
  const place = `${field}.shape`;
  if (shape === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
  if (!Array.isArray(shape)) {
    throw new ServiceError('wrong_type', `${place} must be an array, ${describeValue(shape)} came`, place);
  }
  const sizes: readonly unknown[] = shape;
  if (sizes.length < 1 || sizes.length > MAX_RANK) {
    const message = `${place} must have 1 to ${MAX_RANK} dimensions, ${sizes.length} came`;
    throw new ServiceError('invalid_value', message, place);
  }
  const checked = sizes.map((size, at) => {
    if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 1) return size;
    const message = `${place}[${at}] must be a whole number from 1, ${describeValue(size)} came`;
    throw new ServiceError(size === 0 ? 'empty_input' : 'invalid_value', message, place);
  });
  if (checked[0] > maxRows) {
    const message = `${place}[0] may be at most ${maxRows} rows, ${checked[0]} came`;
    throw new ServiceError('batch_too_large', message, place);
  }
  return checked;
}

function textRows(
  form: InputForm,
  elements: readonly unknown[],
  isBase64: boolean,
  place: string,
): Uint8Array[] {
  // Bytes that are sent as their text are counted once they are bytes.
  const isText = form.type === 'bytes' && !isBase64;
  const as: InputForm = isText ? { type: 'strings' } : form;
  return elements.map((element, at) => {
    if (typeof element !== 'string') {
      const where = `${place}[${at}]`;
      throw new ServiceError(
        'wrong_type',
        `${where} must be a string, ${describeValue(element)} came`,
        where,
      );
    }
    const where = `${place}[${at}]`;
    const row = encodeInput(as, element, where);
    const wrong = row instanceof ServiceError ? row : isText ? checkBinaryInput(form, row, where) : undefined;
    if (wrong !== undefined) throw wrong;
    return row as Uint8Array;
  });
}
