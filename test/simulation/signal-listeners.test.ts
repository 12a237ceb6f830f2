/** Tests the count of the listeners of abort signals, with which the simulation finds listeners that nobody removes. */

import { afterEach, describe, expect, it } from 'vitest';
import { onAbort, sharedController } from '#pickaxe/base/system/abort.js';
import { SignalListeners } from './signal-listeners.ts';

const counts: SignalListeners[] = [];
afterEach(() => {
  for (const each of counts.splice(0)) each.end();
});

function count(): SignalListeners {
  const made = new SignalListeners();
  counts.push(made);
  return made;
}

const listen = ({ signal }: AbortController, times: number) =>
  Array.from({ length: times }, () => onAbort(signal, () => {}));

describe('listeners of a signal', () => {
  it('are many when nothing removes them', () => {
    const signals = count();
    const controller = sharedController();
    listen(controller, 100);
    signals.mark();
    listen(controller, 51);
    expect(signals.check()).toMatch(/^a signal has gained 51 listeners, the last one Error: added here\n.*/);
  });

  it('may be many, one after the other, on one signal or on several', () => {
    const signals = count();
    const controller = sharedController();
    for (let at = 0; at < 100; at++) for (const remove of listen(controller, 1)) remove();
    listen(controller, 50);
    listen(sharedController(), 50);
    expect(signals.check()).toBeUndefined();
  });

  it('are gone when the signal has fired, and are not counted after the end', () => {
    const signals = count();
    const controller = sharedController();
    listen(controller, 60);
    controller.abort();
    expect(signals.check()).toBeUndefined();
    const { addEventListener } = AbortSignal.prototype;
    signals.end();
    expect(AbortSignal.prototype.addEventListener).not.toBe(addEventListener);
    listen(sharedController(), 60);
    expect(signals.check()).toBeUndefined();
  });
});
