/**
 * Fails a file of tests in which Node.js warned of a leak (an eleventh listener of a signal or an emitter), and a file
 * that leaves something behind for those that run after it in the same process.
 */

import { afterAll, expect, vi } from 'vitest';
import { endFile } from './file-end.ts';

const warnings: string[] = [];
const note = ({ name, stack }: Error) => {
  if (name === 'MaxListenersExceededWarning') warnings.push(stack ?? name);
};
process.on('warning', note);

const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2', 'uncaughtException', 'unhandledRejection'];

/** Those of Node.js, as they were before the first file of this process. */
const shared = globalThis as { originals?: { setTimeout: typeof setTimeout; Date: typeof Date } };
shared.originals ??= { setTimeout, Date };
const { originals } = shared;

function processState() {
  return {
    isFakeTime: vi.isFakeTimers() || setTimeout !== originals.setTimeout || Date !== originals.Date,
    folder: process.cwd(),
    environment: { ...process.env },
    exitCode: process.exitCode,
    listeners: Object.fromEntries(EVENTS.map((name) => [name, process.listenerCount(name)])),
  };
}
const before = processState();

afterAll(async () => {
  await endFile();
  // Warnings are emitted in the next tick.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  process.off('warning', note);
  expect(warnings).toEqual([]);
  expect(processState()).toEqual({ ...before, isFakeTime: false });
});
