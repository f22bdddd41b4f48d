/**
 * What an answer must be for callers to read it: enough to tell a Windjammer server from something else at its address, and
 * not all that its interface promises.
 */
export type AnswerShape = (value: unknown) => boolean;

export const isText: AnswerShape = (value) => typeof value === 'string';

export const isTextList: AnswerShape = (value) => Array.isArray(value) && value.every(isText);

/** An object with these fields. */
export function isRecord(...fields: readonly string[]): AnswerShape {
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    fields.every((field) => Object.hasOwn(value, field));
}

/** An array of such objects. */
export function isRecordList(...fields: readonly string[]): AnswerShape {
  const isOne = isRecord(...fields);
  return (value) => Array.isArray(value) && value.every(isOne);
}
