/** Of a model that is refused for what it is. */
export const WAY_ON = 'or serve the model as it is, as a Python module (docs/guides/models.md#python)';
