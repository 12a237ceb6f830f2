// Takes the lock of a sweep again and again, and leaves it each time as a process that is gone would: FOLDER COUNT. The
// exit code is 1 when another process has it, too.

import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { SweepStore } from '#pickaxe/node/sweep/state-files.js';

const [folder, count] = process.argv.slice(2);
const NO_PROCESS = 2 ** 22 + 1;
const held = join(folder, 'held');
for (let taken = 0; taken < Number(count); ) {
  const store = new SweepStore(folder, 'development', 'somebody');
  try {
    store.open();
  } catch {
    continue;
  }
  taken++;
  closeSync(openSync(held, 'wx'));
  rmSync(held);
  writeFileSync(`${store.file}.lock`, `${NO_PROCESS} ${hostname()} 1\n`);
}
