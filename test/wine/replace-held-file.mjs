// Runs on Windows: replaces a file that cmd.exe has open until the first attempt has failed. Its argument is pickaxe's
// program.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { renameFile } = await import(new URL('../base/system/files.js', pathToFileURL(process.argv[2])));
writeFileSync('held.txt', 'old');
writeFileSync('new.txt', 'new');
const holder = spawn('cmd.exe', ['/d', '/s', '/c', '"pause >> held.txt"'], { windowsVerbatimArguments: true });
// What it prints goes into the file, which it has open before.
const ended = once(holder, 'exit');
const isHeld = () => {
  try {
    renameSync('new.txt', 'held.txt');
  } catch (fault) {
    return fault.code;
  }
  writeFileSync('new.txt', 'new');
  return undefined;
};
while (isHeld() === undefined) await new Promise(setImmediate);

const faults = [];
const rename = (from, to) => {
  try {
    renameSync(from, to);
  } catch (fault) {
    faults.push(fault.code);
    throw fault;
  }
};
const wait = async () => {
  holder.stdin.end('\r\n');
  await ended;
};
await renameFile('new.txt', 'held.txt', { platform: process.platform, rename, wait });
console.log(`${[...new Set(faults)].join()}, then replaced`);
