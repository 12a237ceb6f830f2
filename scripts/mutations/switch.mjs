// Defines `globalThis.fault(id)`, which the faulty code asks whether a fault is active. A process or thread that a test
// starts reads the active faults once, at its start, and appends the number of each fault that it reaches to a file.
// The tests' own process has a switch of its own, which the runner sets (runner.mjs).

import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

globalThis.fault ??= makeSwitch();

function makeSwitch() {
  const folder = process.env.FAULTS_FOLDER;
  if (folder === undefined) return () => false;
  let active = [];
  try {
    active = JSON.parse(readFileSync(join(folder, 'active'), 'utf8'));
  } catch {
    // A program may outlive the test that has started it.
  }
  const reached = new Set();
  return (id) => {
    if (!reached.has(id)) {
      reached.add(id);
      try {
        appendFileSync(join(folder, 'reached'), `${id}\n`);
      } catch {
        // It runs as another user, or the folder is gone.
      }
    }
    return active.includes(id);
  };
}
