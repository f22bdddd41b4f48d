export { configurationSchema } from './configurationSchema.js';
export { ConfigurationError } from './configurationError.js';
export { readConfigurationFile } from './configurationFile.js';
export { formOf, keyOf, variableOf, withForm, type OptionForm } from './optionForm.js';
export { configurable, faultsOf, optionsOf, SECTIONS, type Section } from './settings.js';
