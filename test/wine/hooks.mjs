// Runs on Windows: runs a hook for one notice. Its arguments are pickaxe's program, and JSON with the command, the
// notice and the time limit in ms. It prints what was logged.

import { pathToFileURL } from 'node:url';

const [, , main, given] = process.argv;
const { command, notice, timeoutMs } = JSON.parse(given);
const { Hooks, HOOK_LIMITS } = await import(new URL('../rig/notify/hooks.js', pathToFileURL(main)));

const said = [];
const log = Object.fromEntries(['debug', 'warn'].map((level) => [level, (_, text) => said.push(`${level} ${text}`)]));
const hooks = new Hooks({ [notice.type]: command }, log, { ...HOOK_LIMITS, timeoutMs });
hooks.send(notice);
await hooks.end();
console.log(JSON.stringify(said));
