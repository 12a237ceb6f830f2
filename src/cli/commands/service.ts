/** `pickaxe service`: puts a systemd unit with the paths of this machine in place. Nothing is started or stopped. */

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { fillUnit, isAsWritten } from '../../app/systemd/unit.ts';
import { userConfigHome } from '../../config/files.ts';

const NAME = 'pickaxe.service';
/** A unit's mode, whatever the umask is: what stands in it is run. */
const MODE = 0o644;
const PROGRAM = fileURLToPath(new URL('../main.js', import.meta.url));
const TEMPLATES = new URL('../../../packaging/systemd/', import.meta.url);

/** Where a service of the system sees nothing: its unit hides homes, and has temporary files of its own. */
const HIDDEN = /^\/(home|root|run\/user|tmp|var\/tmp)\//;

export interface ServiceOptions {
  /** Whether the unit is for this user or for the whole machine. By default root gets the machine's, others their own. */
  readonly user?: boolean;
  readonly system?: boolean;
  readonly config?: string;
  readonly force?: boolean;
}

interface Place {
  /** Whether it is of the system, and not of one user. */
  readonly ofSystem: boolean;
  /** Where configuration files are. */
  readonly home: string;
  /** The unit's. */
  readonly file: string;
  /** The command that manages it. */
  readonly systemctl: string;
}

interface Service extends Place {
  readonly unit: string;
  readonly config: string;
}

/** @returns the exit code */
export async function runService(action: 'print' | 'install' | 'uninstall', options: ServiceOptions): Promise<number> {
  return { print: printService, install: installService, uninstall: uninstallService }[action](options);
}

function printService(options: ServiceOptions): number {
  process.stdout.write(serviceFor(options).unit);
  return EXIT.done;
}

/** @throws UsageError when it would not work, or would overwrite what somebody has changed. */
async function installService(options: ServiceOptions): Promise<number> {
  needLinux();
  const { file, unit, config, systemctl } = serviceFor(options);
  await import('koffi').catch(() => {
    const remedy = 'install pickaxe with its optional packages (not with --omit=optional)';
    throw new UsageError(`A service tells systemd how it goes through koffi, a package that does not load: ${remedy}.`);
  });
  const present = read(file);
  if (present !== undefined && present !== unit && !isAsWritten(present) && !options.force) {
    throw new UsageError(`${file} was changed, or written by others: it is left as it is. --force overwrites it.`);
  }
  write(file, unit);
  say(
    present === unit ? `${file} is there already.` : `Written: ${file}`,
    ...(existsSync(config)
      ? []
      : [`Not there yet: ${config}, which says what to mine. pickaxe config example prints one.`]),
    ...(systemctl.endsWith('--user')
      ? []
      : missingGroups().map((group) => `Missing: the group ${group}. groupadd --system ${group}`)),
    ...(existsSync('/run/systemd/system') ? [] : ['systemd does not run on this machine now.']),
    `Start it, now and whenever the machine does:  ${systemctl} daemon-reload && ${systemctl} enable --now pickaxe`,
    `See how it goes:  ${systemctl} status pickaxe;  ${systemctl.replace('systemctl', 'journalctl')} --unit pickaxe --follow`,
  );
  return EXIT.done;
}

/** @throws UsageError when somebody has changed it. */
function uninstallService(options: ServiceOptions): number {
  needLinux();
  const { file, systemctl } = placeFor(options);
  const present = read(file);
  if (present === undefined) {
    say(`There is no ${file}.`);
    return EXIT.done;
  }
  if (!isAsWritten(present) && !options.force) {
    throw new UsageError(`${file} was changed, or written by others: it is left as it is. --force removes it.`);
  }
  try {
    rmSync(file);
  } catch (fault) {
    throw new UsageError(`${file} cannot be removed: ${(fault as Error).message}.`);
  }
  say(`Removed: ${file}`, `Stop what runs:  ${systemctl} disable --now pickaxe;  ${systemctl} daemon-reload`);
  return EXIT.done;
}

/** @throws UsageError when there is none. */
function placeFor({ user, system }: ServiceOptions): Place {
  if (user && system) throw new UsageError('Name one of --user and --system.');
  const ofSystem = system ?? (!user && process.getuid?.() === 0);
  const home = ofSystem ? '/etc' : userConfigHome(process.env);
  if (home === undefined) throw new UsageError('This user has no home: use --system.');
  const file = join(home, 'systemd', ofSystem ? 'system' : 'user', NAME);
  return { ofSystem, home, file, systemctl: ofSystem ? 'systemctl' : 'systemctl --user' };
}

/** @throws UsageError when the service could not reach what it needs. */
function serviceFor(options: ServiceOptions): Service {
  const place = placeFor(options);
  const { ofSystem, home } = place;
  const usual = join(home, 'pickaxe', ofSystem ? 'pickaxe.toml' : 'config.toml');
  const config = options.config === undefined ? usual : resolve(options.config);
  const command = [process.execPath, PROGRAM, 'mine', '--config', config];
  if (ofSystem) needReachable([process.execPath, PROGRAM, config]);
  const template = readFileSync(new URL(ofSystem ? NAME : `user/${NAME}`, TEMPLATES), 'utf8');
  try {
    return { ...place, config, unit: fillUnit(template, command) };
  } catch (fault) {
    throw fault instanceof RangeError ? new UsageError(`${fault.message}: choose another path.`) : fault;
  }
}

function needReachable(files: readonly string[]): void {
  const hidden = files.find((file) => HIDDEN.test(file));
  if (hidden === undefined) return;
  const remedy = 'install Node.js and pickaxe for the whole machine (npm install --global), or use --user';
  throw new UsageError(`A service of the system does not see ${hidden}: ${remedy}.`);
}

/** Groups that the system's unit names: without them, systemd does not start it. */
function missingGroups(): string[] {
  const groups = read('/etc/group') ?? '';
  return ['render', 'video'].filter((group) => !new RegExp(`^${group}:`, 'm').test(groups));
}

function needLinux(): void {
  if (process.platform === 'linux') return;
  const instead = {
    darwin: 'On macOS, launchd starts programs at login: write a plist in ~/Library/LaunchAgents that runs',
    win32: 'On Windows, the Task Scheduler starts programs: make a task that runs',
  }[process.platform as string];
  const command = `${process.execPath} ${PROGRAM} mine`;
  throw new UsageError(`pickaxe service is for systemd, which Linux has. ${instead ?? 'Run'} ${command}`);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${file} cannot be read: ${(fault as Error).message}.`);
  }
}

function write(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(file, text, { mode: MODE });
    chmodSync(file, MODE); // of one that was there
  } catch (fault) {
    throw new UsageError(`${file} cannot be written: ${(fault as Error).message}.`);
  }
}

function say(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}
