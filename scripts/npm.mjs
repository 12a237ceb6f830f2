// Runs npm, also on Windows: there `npm` is a .cmd file, which only a shell can start, and whose arguments a shell
// would interpret. So npm's own program is run with Node.js.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Far longer than a download of 50 MB takes. */
const DOWNLOAD_MS = 600_000;

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

/**
 * Packs the checkout. The script `prepack` builds what is out of date, and refuses a package without its native addons.
 * @param folder gets the package
 * @returns the path of the package
 */
export function packCheckout(folder) {
  // What prepack prints must not stand before the JSON.
  const args = ['pack', '--json', '--foreground-scripts=false', '--loglevel=error', '--pack-destination', folder];
  return join(folder, JSON.parse(runNpm(args, { cwd: root }))[0].filename);
}

/**
 * Unpacks a package of the configured registry, also one for another system, which npm would not install here.
 * @param integrity its checksum, as a lock file has it
 * @param to the folder that gets its files; it is replaced only by a whole package
 * @throws Error when the package cannot be downloaded, or has another checksum
 */
export function downloadPackage({ name, version, integrity }, to) {
  mkdirSync(dirname(to), { recursive: true });
  const folder = mkdtempSync(join(dirname(to), 'unfinished-'));
  try {
    const options = { cwd: folder, timeout: DOWNLOAD_MS };
    runNpm(['pack', '--ignore-scripts', '--loglevel=error', `${name}@${version}`], options);
    const [tarball] = readdirSync(folder);
    const bytes = readFileSync(join(folder, tarball));
    const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    if (found !== integrity) throw new Error(`${tarball} has the checksum ${found}, not ${integrity}`);
    unpack(tarball, folder);
    rmSync(to, { recursive: true, force: true });
    renameSync(join(folder, 'package'), to);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Unpacks a package into the folder `package` in a folder. */
export function unpack(tarball, folder) {
  const { status, error, stderr } = spawnSync('tar', ['-xzf', tarball], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`tar: ${error?.message ?? stderr}`);
}
