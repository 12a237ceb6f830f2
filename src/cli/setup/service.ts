/** `pickaxe service`: writes or removes a systemd unit with the paths of this machine. It starts and stops nothing. */

import { createHash } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { userConfigHome } from '../../app/config/config-files.ts';
import { EXIT, orUsageError, UsageError } from '../../app/process/exit.ts';
import type { Io, Line } from '../io.ts';

const NAME = 'pickaxe.service';
/** Mode of the unit. It is set regardless of the umask, because other users must not change what systemd runs. */
const MODE = 0o644;
const PROGRAM = fileURLToPath(new URL('../main.js', import.meta.url));
const TEMPLATES = new URL('../../../packaging/systemd/', import.meta.url);

/** Matches paths that a service of the system cannot see: its unit hides home directories and temporary folders. */
const HIDDEN = /^\/(home|root|run\/user|tmp|var\/tmp)\//;

export function declare(service: Command, line: Line): void {
  service.helpCommand(false);
  for (const [name, what] of [
    ['print', 'print the unit that install would write'],
    ['install', 'write a unit with the paths of this machine, and print how to start it'],
    ['uninstall', 'remove that unit'],
  ] as const) {
    const command = service
      .command(name)
      .description(what)
      .option('--user', 'for this user (the default, except for root)')
      .option('--system', 'for the whole machine (the default for root)');
    if (name !== 'uninstall') command.option('-c, --config <file>', 'configuration file of the service');
    if (name !== 'print') command.option('--force', 'even if somebody has changed the unit');
    command.action(line.action((options) => runService(name, options, line.io)));
  }
}

interface ServiceOptions {
  /** Whether the unit is for this user. Default: yes, unless the user is root or `system` is set. */
  readonly user?: boolean;
  readonly system?: boolean;
  readonly config?: string;
  readonly force?: boolean;
}

interface Place {
  readonly ofSystem: boolean;
  readonly home: string;
  readonly file: string;
  /** Path of the link that `systemctl enable` makes, according to the unit's WantedBy=. */
  readonly enabledLink: string;
  readonly systemctl: string;
}

interface Service extends Place {
  readonly unit: string;
  readonly config: string;
}

async function runService(action: 'print' | 'install' | 'uninstall', options: ServiceOptions, io: Io): Promise<number> {
  return { print: printService, install: installService, uninstall: uninstallService }[action](options, io);
}

function printService(options: ServiceOptions, io: Io): number {
  needLinux();
  io.out(serviceFor(options).unit);
  return EXIT.done;
}

/** @throws UsageError when the service could not work, or when somebody has changed the unit and `force` is not set */
async function installService(options: ServiceOptions, io: Io): Promise<number> {
  needLinux();
  const { file, unit, config, systemctl } = serviceFor(options);
  await import('koffi').catch(() => {
    const remedy = 'install pickaxe with its optional packages (not with --omit=optional)';
    throw new UsageError(`A service reports to systemd through the package koffi, which does not load: ${remedy}.`);
  });
  const present = read(file);
  if (present !== undefined && present !== unit && !isAsWritten(present) && !options.force) {
    throw new UsageError(
      `${file} was changed, or was not written by pickaxe, so it stays as it is. --force overwrites it.`,
    );
  }
  write(file, unit);
  print(
    io,
    present === unit ? `${file} is already there.` : `Written: ${file}`,
    ...(existsSync(config)
      ? []
      : [`Not there yet: ${config}, the service's configuration. pickaxe config example prints one.`]),
    ...(systemctl.endsWith('--user')
      ? []
      : missingGroups().map((group) => `The group ${group} is missing. Make it with: groupadd --system ${group}`)),
    ...(existsSync('/run/systemd/system') ? [] : ['systemd is not running on this machine.']),
    `To start it, now and at every boot:  ${systemctl} daemon-reload && ${systemctl} enable --now pickaxe`,
    `To watch it:  ${systemctl} status pickaxe;  ${systemctl.replace('systemctl', 'journalctl')} --unit pickaxe --follow`,
  );
  return EXIT.done;
}

/**
 * Removes the unit and the link that `systemctl enable` has made. Without the unit, `systemctl disable` could not
 * remove the link.
 */
function uninstallService(options: ServiceOptions, io: Io): number {
  needLinux();
  const { file, enabledLink, systemctl } = placeFor(options);
  const present = read(file);
  if (present === undefined) {
    print(io, `There is no ${file}.`);
    return EXIT.done;
  }
  if (!isAsWritten(present) && !options.force) {
    throw new UsageError(
      `${file} was changed, or was not written by pickaxe, so it stays as it is. --force removes it.`,
    );
  }
  const isEnabled = lstatSync(enabledLink, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const removed = isEnabled ? [file, enabledLink] : [file];
  for (const each of removed)
    orUsageError(
      () => rmSync(each),
      (why) => `${each} cannot be removed: ${why}.`,
    );
  print(
    io,
    ...removed.map((each) => `Removed: ${each}`),
    `If the service is still running, stop it:  ${systemctl} stop pickaxe;  ${systemctl} daemon-reload`,
  );
  return EXIT.done;
}

/** @throws UsageError when both `user` and `system` are set, or when the user has no home directory for a unit */
function placeFor({ user, system }: ServiceOptions): Place {
  if (user && system) throw new UsageError('Give only one of --user and --system.');
  const ofSystem = system ?? (!user && process.getuid?.() === 0);
  const home = ofSystem ? '/etc' : userConfigHome(process.env);
  if (home === undefined) throw new UsageError('This user has no home directory: use --system.');
  const units = join(home, 'systemd', ofSystem ? 'system' : 'user');
  const enabledLink = join(units, `${ofSystem ? 'multi-user' : 'default'}.target.wants`, NAME);
  const systemctl = ofSystem ? 'systemctl' : 'systemctl --user';
  return { ofSystem, home, file: join(units, NAME), enabledLink, systemctl };
}

/** @throws UsageError when the service could not see a file that it needs, or when a path has control characters */
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
  throw new UsageError(`A service of the system cannot see ${hidden}: ${remedy}.`);
}

/** @returns groups of the system's unit that this machine lacks. systemd does not start a service without its groups */
function missingGroups(): string[] {
  const groups = read('/etc/group') ?? '';
  return ['render', 'video'].filter((group) => !new RegExp(`^${group}:`, 'm').test(groups));
}

function needLinux(): void {
  if (process.platform === 'linux') return;
  const instead = {
    darwin: 'On macOS, launchd starts programs at login: write a plist in ~/Library/LaunchAgents that runs',
    win32: 'On Windows, the Task Scheduler starts programs (docs/platforms.md): create a task that runs',
  }[process.platform as string];
  const command = `"${process.execPath}" "${PROGRAM}" mine`;
  throw new UsageError(`pickaxe service needs systemd, which only Linux has. ${instead ?? 'Run'} ${command}`);
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
  const act = () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(file, text, { mode: MODE });
    chmodSync(file, MODE); // An older file still has its own mode.
  };
  orUsageError(act, (why) => `${file} cannot be written: ${why}.`);
}

function print(io: Io, ...lines: string[]): void {
  io.out(`${lines.join('\n')}\n`);
}

/** Matches the first line of a unit that pickaxe has written. The checksum shows whether the unit was changed later. */
const MARK = /^# Written by `pickaxe service install`, checksum ([0-9a-f]{16})\. See docs\/\w+\.md for changes\.\n/;

/**
 * @param template a unit with a line `ExecStart=`, which is replaced
 * @param command the words of the command line
 * @throws RangeError for a control character, which a unit cannot contain
 */
export function fillUnit(template: string, command: readonly string[]): string {
  const line = `ExecStart=${command.map(quoteWord).join(' ')}`;
  const text = template.replace(/^ExecStart=.*$/m, () => line);
  return `# Written by \`pickaxe service install\`, checksum ${digest(text)}. See docs/platforms.md for changes.\n${text}`;
}

export function isAsWritten(unit: string): boolean {
  const mark = MARK.exec(unit);
  return mark !== null && mark[1] === digest(unit.slice(mark[0].length));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Quotes by the rules of systemd.service(5), "Command lines", and systemd.unit(5), "Specifiers". */
function quoteWord(word: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
  if (/[\0-\x1f\x7f]/.test(word)) throw new RangeError(`A systemd unit cannot contain ${JSON.stringify(word)}`);
  const escaped = word
    .replace(/[\\"]/g, '\\$&')
    .replaceAll('%', '%%')
    .replaceAll('$', () => '$$');
  return /^[\w@%+=:,./-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}
