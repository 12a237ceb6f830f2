/** Handlers of signals. They let a command end in an orderly way. Without a terminal, SIGHUP ends no command. */

import { isatty } from 'node:tty';
import { EXIT } from './exit.ts';

/** SIGINT comes from Ctrl-C, SIGTERM from a service manager, and SIGBREAK from Ctrl-Break on Windows. */
const ENDS = ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const;

/**
 * Whether SIGHUP ends pickaxe. With a terminal, the signal means that the terminal was closed. On Windows it always has
 * this meaning, and the system kills the process some seconds later. Under nohup and in a service there is no terminal.
 * There the signal comes from a session that ends, from logrotate or from an operator, and pickaxe must go on. (Node.js
 * removes nohup's setting to ignore the signal.)
 */
const endsAtHangup = process.platform === 'win32' || [0, 1, 2].some((descriptor) => isatty(descriptor));

/** Keeps SIGHUP from ending the process if there is no terminal. Without a handler, the signal would end it. */
export function surviveHangups(): void {
  onHangup(() => {});
}

/** @param act called at SIGHUP if there is no terminal @returns a function that removes the handler */
export function onHangup(act: () => void): () => void {
  if (endsAtHangup) return () => {};
  process.on('SIGHUP', act);
  return () => process.off('SIGHUP', act);
}

/**
 * Calls `stop` at the first signal, and ends the process at the second.
 * @returns a function that removes the handlers
 */
export function onSignals(stop: () => void): () => void {
  let asked = false;
  const handle = () => {
    if (asked) process.exit(EXIT.interrupted);
    asked = true;
    stop();
  };
  // When a terminal is closed, both the system and the shell send SIGHUP, so a second SIGHUP is ignored.
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
