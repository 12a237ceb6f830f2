/** Fails a file of tests in which Node.js warned of a leak: an eleventh listener of a signal or an emitter. */

import { afterAll, expect } from 'vitest';

const warnings: string[] = [];
const note = ({ name, stack }: Error) => {
  if (name === 'MaxListenersExceededWarning') warnings.push(stack ?? name);
};
process.on('warning', note);

afterAll(async () => {
  // Warnings are emitted in the next tick.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
