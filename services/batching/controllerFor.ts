import type { BatchingChoice } from '../registry/index.js';
import { AimdController, FixedController, type BatchSizeController } from './batchSize.js';
import { QuantileController } from './quantileController.js';

/**
 * @param ceiling what the container takes at most.
 * @throws RangeError when a fixed maximum is no whole number above 0.
 */
export function controllerFor(choice: BatchingChoice, ceiling: number): BatchSizeController {
  switch (choice.strategy) {
    case 'aimd':
      return new AimdController({ ceiling });
    case 'quantile':
      return new QuantileController({ ceiling });
    case 'none':
      return new FixedController(1, 'none');
    case 'fixed':
      if (!Number.isSafeInteger(choice.maxBatchSize) || choice.maxBatchSize < 1) {
        throw new RangeError(`maxBatchSize must be a whole number above 0, not ${choice.maxBatchSize}`);
      }
      return new FixedController(Math.min(choice.maxBatchSize, ceiling));
  }
}
