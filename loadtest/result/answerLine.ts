import { jsonText } from '../../services/json/index.js';

/** One answer of `--save-answers`. @param output JSON text, or any other string, as engines have it */
export function answerLine(number: number, application: string, output: string, isDefault: boolean): string {
  return `${String(jsonText({ number, application, output, default: isDefault }))}\n`;
}
