import { inputForm, type KernelModelManifest } from '../../models/index.js';
import { inputProblem } from '../../protocol/index.js';

/** Says what is wrong with an item's bytes, or undefined. */
export type InputCheck = (bytes: Uint8Array) => string | undefined;

/** The check of the model's one input: its length, and for numbers that each is finite and in the manifest's range. */
export function inputCheck(manifest: KernelModelManifest): InputCheck {
  const form = inputForm(manifest);
  return (bytes) => inputProblem(form, bytes, 'the model');
}
