import { expect, it } from 'vitest';
import * as client from './index.js';
import type * as declared from './clientModule.js';

/** The compiler refuses this file where the declared types promise what the client does not do. */
const asDeclared: typeof declared = client;
const managementAsDeclared = (management: client.ManagementClient): declared.ManagementClient => management;
const optionsAsTaken = (options: declared.PredictOptions): client.PredictOptions => options;
const feedbackAsTaken = (feedback: declared.Feedback): client.Feedback => feedback;

it('is what its declared types say', () => {
  expect(asDeclared.WindjammerClient).toBe(client.WindjammerClient);
  const windjammer = new asDeclared.WindjammerClient();
  expect(managementAsDeclared(new client.WindjammerClient().management)).toBeDefined();
  expect(windjammer.management).toBeDefined();
  expect(optionsAsTaken({ launchClass: 'bestEffort' })).toEqual({ launchClass: 'bestEffort' });
  expect(feedbackAsTaken({ label: 7 })).toEqual({ label: 7 });
});
