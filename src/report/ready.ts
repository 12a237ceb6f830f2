/** Whether the rig mines: what those who watch over processes ask. */

import type { RigNow } from './tally.ts';

/** @returns what is missing, for people; empty when it mines */
export function whyNotReady({ devices, sources }: RigNow): string[] {
  const mines = [...devices.values()].some(({ state }) => state === 'ready');
  const connected = [...sources.values()].some(({ state }) => state === 'connected');
  return [...(mines ? [] : ['no device mines']), ...(connected ? [] : ['no node is connected'])];
}
