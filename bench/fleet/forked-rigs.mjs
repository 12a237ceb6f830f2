// Starts the simulated rigs of a file in a child process, which gets its options as its first argument.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** @param url of the file, whose process ends when it is disconnected */
export function forkRigs(url, options) {
  const child = fork(fileURLToPath(url), [JSON.stringify(options)]);
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  let isStopping = false;
  child.once('exit', (code) => {
    if (!isStopping) throw new Error(`simulated rigs have ended with exit code ${code}`);
  });
  return {
    child,
    pid: child.pid,
    async stop() {
      isStopping = true;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      process.off('exit', kill);
    },
  };
}
