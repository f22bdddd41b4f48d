import type { ProductProcess } from './serverProcess.js';

const OBJECTIVE_MS = 100;
const ATTEMPTS = 200;

/**
 * A model that takes doubles, and an application of its name; once it answers.
 * @param model its container's fields of `add_model`
 */
export async function deployModule(
  product: ProductProcess,
  name: string,
  model: object,
  objectiveMs = OBJECTIVE_MS,
): Promise<void> {
  await product.admin('add_app', {
    name,
    input_type: 'doubles',
    default_output: '-1',
    latency_slo_micros: objectiveMs * 1000,
  });
  await product.admin('add_model', {
    model_name: name,
    model_version: '1',
    input_type: 'doubles',
    ...model,
  });
  await product.admin('add_model_links', { app_name: name, model_names: [name] });
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const response = await fetch(product.urlOf(name), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: [attempt] }),
    });
    const { default: isDefault } = (await response.json()) as { default: boolean };
    if (!isDefault) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the model '${name}' did not start in 10 s`);
}
