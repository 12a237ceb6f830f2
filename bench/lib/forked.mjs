// A server in another process, so that its processor time is not counted as the miner's.

import { fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * Starts a module as a child process, which gets `options` as JSON in its first argument. It sends { url } once it
 * serves, answers the message { report: true }, and ends when it is disconnected.
 * @param file the path of the module
 */
export async function startForked(file, options) {
  const child = fork(file, [JSON.stringify(options)]);
  const [{ url }] = await once(child, 'message');
  return {
    url,
    pid: child.pid,
    send: (message) => child.send(message),
    async report() {
      child.send({ report: true });
      const [report] = await once(child, 'message');
      return report;
    },
    async close() {
      const closed = once(child, 'exit');
      child.disconnect();
      await closed;
    },
  };
}
