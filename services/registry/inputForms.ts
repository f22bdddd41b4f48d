import {
  rangeText,
  type InputForm,
  type InputRange,
  type InputType,
} from '../../containers/protocol/index.js';
import type { ModelRecord } from './records.js';

/** What a model version takes, as far as its registration says. */
export function inputFormOf({
  inputType: type,
  inputLength: length,
  inputRange: range,
  inputColumns: columns,
}: ModelRecord): InputForm {
  return {
    type,
    ...(length === undefined ? {} : { length }),
    ...(range === undefined ? {} : { range }),
    ...(columns === undefined ? {} : { columns }),
  };
}

/** What suits every one of the forms: an input that one model cannot take is wrong for the application, whichever is asked. */
export function commonInputForm(type: InputType, forms: readonly InputForm[]): InputForm {
  const length = forms.find((form) => form.length !== undefined)?.length;
  const ranges = forms.map(({ range }) => range ?? {});
  const range = ranges.length === 0 ? {} : ranges.reduce(narrower);
  const columns = forms.find((form) => form.columns !== undefined)?.columns;
  return {
    ...(columns === undefined ? {} : { columns }),
    type,
    ...(length === undefined ? {} : { length }),
    ...(Object.keys(range).length === 0 ? {} : { range }),
  };
}

function narrower(a: InputRange, b: InputRange): InputRange {
  const minimum = Math.max(a.minimum ?? -Infinity, b.minimum ?? -Infinity);
  const maximum = Math.min(a.maximum ?? Infinity, b.maximum ?? Infinity);
  return {
    ...(minimum === -Infinity ? {} : { minimum }),
    ...(maximum === Infinity ? {} : { maximum }),
    ...(a.missing === true && b.missing === true ? { missing: true } : {}),
  };
}

/** A model by its name, with what it takes. */
export interface NamedForm {
  readonly name: string;
  readonly form: InputForm;
}

/** Why no input suits both models, with what each declares; undefined: one does. */
export function inputClash(one: NamedForm, other: NamedForm): string | undefined {
  const { length, range, columns } = one.form;
  const { length: otherLength, range: otherRange, columns: otherColumns } = other.form;
  if (columns !== undefined && otherColumns !== undefined && columns.join('\0') !== otherColumns.join('\0')) {
    return `model '${one.name}' takes the columns ${columns.join(', ')}, '${other.name}' of the same application ${otherColumns.join(', ')}`;
  }
  if (length !== undefined && otherLength !== undefined && length !== otherLength) {
    return `model '${one.name}' takes ${length} elements, '${other.name}' of the same application ${otherLength}`;
  }
  const { minimum = -Infinity, maximum = Infinity } = narrower(range ?? {}, otherRange ?? {});
  if (minimum <= maximum) return undefined;
  return `model '${one.name}' takes numbers ${rangeText(range)}, '${other.name}' of the same application ${rangeText(otherRange)}`;
}
