// An idle miner in another process, so that it can be suspended and measured.
//
// The child gets the nodes' URLs as its first argument and sends { turn } and { event }. The message { measure: true }
// is answered with { measured }.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { IdleMiner } from './idle-miner.mjs';
import { TimedRecords } from './timed-records.mjs';

/** @returns `turns` and `events` as an IdleMiner's, and the `pid` */
export async function startIdleMinerProcess(urls) {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(urls)], {
    serialization: 'advanced',
    // Warnings are counted and not printed.
    execArgv: ['--no-warnings'],
  });
  const turns = new TimedRecords();
  const events = new TimedRecords();
  let answer = () => {};
  child.on('message', ({ turn, event, measured }) => {
    if (turn) turns.add(turn);
    if (event) events.add(event);
    if (measured) answer(measured);
  });
  await once(child, 'spawn');
  return {
    pid: child.pid,
    turns,
    events,
    /** @returns `timers` that wait, and `warnings` of Node.js so far */
    async measure() {
      const measured = new Promise((resolve) => {
        answer = resolve;
      });
      child.send({ measure: true });
      return await measured;
    },
    async stop() {
      const closed = once(child, 'exit');
      child.disconnect();
      await closed;
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const warnings = [];
  process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`));
  const miner = new IdleMiner(JSON.parse(process.argv[2]));
  // The parent may have ended.
  const send = (message) => process.connected && process.send(message, () => {});
  miner.turns.on((turn) => send({ turn }));
  miner.events.on((event) => send({ event }));
  process.on('message', () => {
    const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    send({ measured: { timers, warnings } });
  });
  process.on('disconnect', () => miner.stop().then(() => process.exit(0)));
}
