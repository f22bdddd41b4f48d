import { expectTypeOf, it } from 'vitest';
import type * as selection from '../../selection/index.js';
import type * as published from './policyModule.js';
import type * as library from './policyLibrary.js';

type Whole = Required<Pick<published.UserPolicy, 'combine'>> & published.UserPolicy;

it('publishes the types that the server has', () => {
  expectTypeOf<published.Json>().toEqualTypeOf<selection.Json>();
  expectTypeOf<published.Selection>().toEqualTypeOf<selection.Selection>();
  expectTypeOf<published.Feedback>().toEqualTypeOf<selection.Feedback>();
  expectTypeOf<published.Combination>().toEqualTypeOf<selection.Combination>();
  expectTypeOf<published.ArmPrediction>().toEqualTypeOf<selection.ArmPrediction>();
  expectTypeOf<published.ArmOutcome>().toEqualTypeOf<selection.ArmOutcome>();
  expectTypeOf<published.QueryView>().toEqualTypeOf<selection.QueryView>();
  expectTypeOf<published.FeatureFault>().toEqualTypeOf<selection.FeatureFault>();
  // Every policy of the server could be one of a user's; none of these learns elsewhere.
  expectTypeOf<keyof Whole>().toEqualTypeOf<Exclude<keyof selection.SelectionPolicy, 'settled'>>();
  expectTypeOf<typeof library.lossOf>().toEqualTypeOf<typeof published.lossOf>();
  expectTypeOf<typeof library.sameOutput>().toEqualTypeOf<typeof published.sameOutput>();
});
