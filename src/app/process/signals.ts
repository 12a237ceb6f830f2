/** Handles signals for every command: they end it in order, except for SIGHUP without a terminal. */

import { isatty } from 'node:tty';
import { EXIT } from './exit.ts';

/** SIGINT comes from Ctrl-C, SIGTERM from a service manager, and SIGBREAK from Ctrl-Break on Windows. */
const ENDS = ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const;

/**
 * SIGHUP means that the terminal was closed, and ends pickaxe. On Windows it has no other meaning, and the system kills
 * the process some seconds later. Under nohup and in a service there is no terminal: there SIGHUP comes from the end of
 * a session that pickaxe is meant to outlive, from logrotate, or from an operator. (Node.js resets the signal even if
 * nohup has set it to be ignored.)
 */
const endsAtHangup = process.platform === 'win32' || [0, 1, 2].some((descriptor) => isatty(descriptor));

/** Keeps the process running at SIGHUP, if there is no terminal. Without a handler, any signal ends it. */
export function surviveHangups(): void {
  onHangup(() => {});
}

/** @param act called at SIGHUP if there is no terminal. @returns a function that removes the handler */
export function onHangup(act: () => void): () => void {
  if (endsAtHangup) return () => {};
  process.on('SIGHUP', act);
  return () => process.off('SIGHUP', act);
}

/** Calls `stop` at the first signal, ends the process at the second. @returns a function that removes the handlers */
export function onSignals(stop: () => void): () => void {
  let asked = false;
  const handle = () => {
    if (asked) process.exit(EXIT.interrupted);
    asked = true;
    stop();
  };
  // The system and the shell each send SIGHUP when a terminal is closed, so that a second one means nothing.
  const hangUp = () => {
    if (!asked) handle();
  };
  for (const signal of ENDS) process.on(signal, handle);
  if (endsAtHangup) process.on('SIGHUP', hangUp);
  return () => {
    for (const signal of ENDS) process.off(signal, handle);
    process.off('SIGHUP', hangUp);
  };
}
