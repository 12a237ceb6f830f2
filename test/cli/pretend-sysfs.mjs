// Loaded before the command line (node --import): reads below /sys are made below the folder PRETENDED_SYSFS instead.
// Synchronous reads, which are those of the topology, are redirected only if that folder has the file. PRETENDED_WATTS
// is the power that the energy counter shows, up to the moment of reading. REFUSED is a pattern of paths that only root
// may read: the tests may run as root, for whom modes do not hold.

import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { PRETENDED_SYSFS: folder, PRETENDED_WATTS: watts, REFUSED: refused = '(?!)' } = process.env;
const { open, readdir } = promises;

const pretended = (path) => (String(path).startsWith('/sys/') ? folder + String(path).slice('/sys'.length) : path);

promises.open = async (path, ...more) => {
  if (new RegExp(refused).test(String(path))) throw Object.assign(new Error(`EACCES: ${path}`), { code: 'EACCES' });
  if (watts !== undefined && String(path).endsWith('/energy_uj')) {
    fs.writeFileSync(pretended(path), `${Math.round(1e6 + Number(watts) * 1000 * performance.now())}\n`);
  }
  return open(pretended(path), ...more);
};
promises.readdir = (path, ...more) => readdir(pretended(path), ...more);
const { readFileSync } = fs;
fs.readFileSync = (path, ...more) =>
  readFileSync(typeof path === 'string' && fs.existsSync(pretended(path)) ? pretended(path) : path, ...more);
syncBuiltinESMExports();
