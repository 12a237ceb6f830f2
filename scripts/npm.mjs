// Runs npm, also on Windows: there `npm` is a .cmd file, which only a shell can start, and whose arguments a shell would interpret.
// So npm's own program is run with Node.js.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @returns the path of npm's program; undefined when it is not known */
function npmProgram(environment, execPath) {
  // npm sets this variable for the scripts that it runs. Other package managers set it, too.
  const running = environment.npm_execpath;
  if (running?.endsWith('npm-cli.js')) return running;
  const bundled = 'node_modules/npm/bin/npm-cli.js';
  // Installers put it beside node.exe on Windows, and into lib/ beside bin/ elsewhere.
  const places = [join(dirname(execPath), bundled), join(dirname(execPath), '..', 'lib', bundled)];
  return places.find((path) => existsSync(path));
}

/** @returns the program and the first arguments of a command that runs npm without a shell */
export function npmCommand(environment = process.env, execPath = process.execPath) {
  const program = npmProgram(environment, execPath);
  return program === undefined ? ['npm'] : [execPath, program];
}

/**
 * Runs npm to its end.
 * @param options those of spawnSync
 * @returns what it printed on stdout
 * @throws Error with what it printed on stderr, when it fails
 */
export function runNpm(args, options = {}) {
  const [command, ...first] = npmCommand();
  const { status, error, stdout, stderr } = spawnSync(command, [...first, ...args], { encoding: 'utf8', ...options });
  if (error) throw new Error(`npm could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stderr?.trim() || `exit code ${status}`}`);
  return stdout;
}
