/** Types of settings about the miner, its network, devices, simulations, pauses and commands. */

import { formatHttpAddress, type HttpAddress, isLoopback, parseHttpAddress } from '../../../base/text/addresses.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import {
  formatCpuList,
  formatHashrate,
  MAX_CPUS,
  parseCpuList,
  parseHashrate,
  parseTime,
} from '../../../base/text/quantities.ts';
import { formatWindows, parseWindows, type ScheduleWindow } from '../../../base/text/schedule-windows.ts';
import { CORE_KINDS, KERNEL_NAMES } from '../../../miner/engine/device.ts';
import { isOnCurve } from '../../../node/client/miner-identity.ts';
import { choice, integer, list, MAX_CHARACTERS, MAX_ITEMS, parsed, type SettingType, text, time } from './basic.ts';

/**
 * Matches names without control characters and without invisible characters (Unicode's Cc, Cf, Zl and Zp). Two names
 * that differ only in such characters look equal.
 */
const RIG_NAME = /^(?=.*\S)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,64}$/u;

export const rigName = text(RIG_NAME, 'Give the rig a name of 1 to 64 characters that one can see.');
export const fleetGroup = text(RIG_NAME, 'Give the group a name of 1 to 64 characters that one can see.');

export const natsSubject = text(
  /^[\w-]{1,32}(?:\.[\w-]{1,32}){0,3}$/,
  'Give a name of letters, digits, - and _, or several with dots between them, like farm.east.',
);

const KEY_DIGITS = 64;
const NOT_PUBLIC = 'no account has this key, because it is no point of the curve: is it perhaps the secret key?';

/** An Ed25519 public key: 32 bytes as lower-case hex digits. `k:KEY` and `k:KEY.rig1` are accepted and mean `KEY`. */
export const publicKey = parsed({
  hint: 'A public key is 64 hex digits. Make one with: pickaxe keygen pickaxe-key.json',
  pattern: /^(?:k:)?[0-9a-fA-F]{64}(?:\..+)?$/,
  parse: (text) => {
    const { owner, rig } = splitWorkerName(text);
    const key = owner.replace(/^k:/, '');
    const flaw = flawOf(key, owner.length - key.length) ?? flawOfRig(rig);
    if (flaw !== undefined) throw new RangeError(flaw);
    const publicKey = key.toLowerCase();
    if (!isOnCurve(publicKey)) throw new RangeError(NOT_PUBLIC);
    return publicKey;
  },
});

/** @param before number of characters in front of the key @returns what is wrong with the key */
function flawOf(key: string, before: number): string | undefined {
  const at = key.search(/[^0-9a-f]/i);
  if (at === KEY_DIGITS) return 'after its 64 hex digits, only a dot and a rig’s name may follow';
  if (at >= 0)
    return `its character ${before + at + 1}, ${oneLine(JSON.stringify(key.charAt(at)))}, is not a hex digit`;
  return key.length === KEY_DIGITS ? undefined : `it has ${key.length} hex digits`;
}

function flawOfRig(rig: string | undefined): string | undefined {
  return rig === undefined || RIG_NAME.test(rig)
    ? undefined
    : 'the rig’s name after the dot must have 1 to 64 characters that one can see';
}

const ACCOUNT = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,256}$/u;

/** An account's name. `k:KEY.rig1` means the account `k:KEY`. Names without a key may contain dots. */
export const account = parsed({
  hint: 'Give the name of the account, of 1 to 256 characters that one can see; without it, the account is k: and the public key.',
  pattern: ACCOUNT,
  parse: (text) => {
    const { owner, rig } = splitWorkerName(text);
    const flaw = flawOfRig(rig);
    if (flaw !== undefined) throw new RangeError(flaw);
    return ACCOUNT.test(owner) ? owner : undefined;
  },
});

/** A user at a pool. The form depends on the pool. Many pools expect a dot before the worker's name, but not all. */
export const poolUser = text(
  ACCOUNT,
  'Give the user as the pool wants it, like NAME.WORKER, of 1 to 256 characters that one can see.',
);

/**
 * A password at a pool. Some pools accept settings as the password, like `d=1000`. URLs are refused, because in some
 * miners the pool's URL follows `-p`.
 */
export const poolPassword = text(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it refuses them
  /^(?!\w[\w+.-]*:\/\/)[^\x00-\x1f\x7f]{0,256}$/,
  'Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.',
);

export const NETWORK_NAME = /^[a-zA-Z0-9][a-zA-Z0-9-]{0,63}$/;
export const network = text(NETWORK_NAME, 'A network is written like mainnet01 or testnet04.');

/* Types of settings about devices, kernels and CPUs. */

const DEVICE = /^(?:all|none|cpu|gpu|(?:gpu)?\d{1,3})$/;

/** `cpu`, `gpu0` …, `gpu` for every GPU, `all` or `none`. `0` is short for `gpu0`. */
const deviceName = parsed({
  hint: 'Name devices like cpu,gpu0,gpu1 (gpu means all of them), or all, or none. See: pickaxe devices',
  pattern: DEVICE,
  parse: (text) => (DEVICE.test(text) ? text.replace(/^(?=\d)/, 'gpu') : undefined),
});

const deviceNames = list(deviceName);

/** Names of devices. `all` means the CPU and every real GPU. `none` becomes an empty list: only other programs hash. */
export const devices: SettingType<readonly string[] | 'all'> = {
  form: deviceNames.form,
  hint: deviceNames.hint,
  schema: (z) =>
    deviceNames
      .schema(z)
      .refine((names) => names.length === 1 || !names.includes('none'))
      .transform((names) => (names.includes('all') ? 'all' : names.filter((name) => name !== 'none'))),
  print: (names) => (names.length === 0 ? 'none' : names),
};

/** A number of CPU threads, or a percentage of the hardware threads that this process may use. */
type ThreadCount = number | `${number}%`;

const threads = integer(1, 1024);
const PERCENT = /^(?:100|[1-9]\d?)%$/;

export const threadCount: SettingType<ThreadCount> = {
  form: 'number',
  hint: 'Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.',
  schema: (z) =>
    z.union([
      threads.schema(z),
      z
        .string()
        .regex(PERCENT)
        .transform((part) => part as `${number}%`),
    ]),
};

export const kernelName = choice(...KERNEL_NAMES);

export const cpuCores = choice(...CORE_KINDS, 'all');

/** A list of CPUs in Linux's form, like `0,2-5`, or `none`. */
export const cpuList = parsed<readonly number[] | 'none'>({
  hint: `Name CPUs like 0,2-5, each below ${MAX_CPUS}, or none.`,
  pattern: /^(none|\d+(-\d+)?(,\d+(-\d+)?)*)$/,
  parse: (text) => {
    if (/^0x/i.test(text)) throw new RangeError('masks are not read here');
    return text === 'none' ? text : parseCpuList(text);
  },
  print: (cpus) => (cpus === 'none' ? cpus : formatCpuList(cpus)),
});

/* The type of `--simulate`. */

/**
 * How blocks are simulated: at the rate of devices with a given hashrate, with a constant time between the blocks of a
 * chain, or on request over HTTP.
 */
export type Simulation =
  | { readonly kind: 'hashrate'; readonly hashesPerSecond: number }
  | { readonly kind: 'delay'; readonly seconds: number }
  | { readonly kind: 'on-demand'; readonly address: HttpAddress };

const HOW = /^(hashrate|delay|on-demand)=(.+)$/;
/** Maximum time between the blocks of a chain: a day. A test network with rarer blocks is of no use. */
const MOST_SECONDS = 86_400;
/**
 * Minimum time between the blocks of a chain. With twenty chains, this makes one block per millisecond, which is the
 * fastest rate of timers.
 */
const LEAST_SECONDS = 0.02;

export const simulation = parsed<Simulation>({
  hint: 'Write hashrate=100M, delay=5s (from 0.02 s to a day), or on-demand=PORT with a port or loopback address and port.',
  pattern: HOW,
  parse: (text) => {
    const [, kind, value = ''] = HOW.exec(text) ?? [];
    if (kind === 'hashrate') {
      const hashesPerSecond = parseHashrate(value) ?? 0;
      return hashesPerSecond > 0 ? { kind, hashesPerSecond } : undefined;
    }
    if (kind === 'delay') {
      const seconds = parseTime(value) ?? 0;
      return seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS ? { kind, seconds } : undefined;
    }
    const address = kind === 'on-demand' ? parseHttpAddress(value) : undefined;
    if (!address) return undefined;
    if (!isLoopback(address.host)) throw new RangeError(`${address.host} is no address of this machine alone.`);
    return { kind: 'on-demand', address };
  },
  print: (how) => {
    if (how.kind === 'hashrate') return `hashrate=${formatHashrate(how.hashesPerSecond)}`;
    if (how.kind === 'delay') return `delay=${how.seconds}s`;
    return `on-demand=${formatHttpAddress(how.address)}`;
  },
});

/* Types of settings for unattended rigs. */

/**
 * An idle time in seconds. Systems report the time of the last use with an error of up to 8 seconds, so less than 10
 * seconds is refused. More than a day would be the same as never.
 */
const idle = time(
  10,
  86_400,
  'Give at least 10 seconds, or a time like 5m, up to a day; or true (60 seconds), or none.',
);

/** An idle time in seconds, or `none`. `true` means 60 seconds. */
export const idleTime: SettingType<number | 'none'> = {
  form: idle.form,
  hint: idle.hint,
  schema: (z) => z.union([z.literal('none'), z.literal([true, 'true']).transform(() => 60), idle.schema(z)]),
};

export const schedule = parsed<readonly ScheduleWindow[]>({
  hint: 'Write it like 22:00-07:00, or mon-fri 22:00-07:00, sat,sun.',
  parse: parseWindows,
  print: formatWindows,
});

/** Matches names of batch files. Windows runs them with cmd.exe, which ignores dots and blanks at the end of a name. */
const BATCH = /\.(bat|cmd)[. ]*$/i;

/**
 * Makes the type of a command: a line for the shell or, as a list, a program and its arguments, which no shell
 * interprets. On Windows, a list must not begin with a batch file, because cmd.exe would interpret the arguments.
 */
export function commandOn(platform: string): SettingType<string | readonly string[]> {
  const isProgram = (name = '') => name.trim() !== '' && !(platform === 'win32' && BATCH.test(name));
  const batch = platform === 'win32' ? '; a .cmd or .bat file can only be in a shell command' : '';
  return {
    form: 'text',
    hint: `Give a shell command, or a list of a program and its arguments${batch}.`,
    schema: (z) => {
      const word = z
        .string()
        .max(MAX_CHARACTERS)
        .regex(/^[^\0]*$/);
      const words = z.array(word).min(1).max(MAX_ITEMS);
      return z.union([words.refine(([program]) => isProgram(program)), word.regex(/\S/)]);
    },
  };
}

export const command = commandOn(process.platform);

/** The types of notices, as in `rig/notify/`. A test compares both lists. */
export const notice = choice(
  'start',
  'stop',
  'block',
  'block-state',
  'block-reward',
  'device-lost',
  'low-hashrate',
  'hashrate-ok',
);

/*
 * Mining systems write a wallet and a worker's name as one text, like HiveOS's `%WAL%.%WORKER_NAME%`. Therefore a
 * public key or an account may be written as `k:KEY.rig1`, where the part after the dot names the rig. The user at a
 * pool may also name the rig in this way, but the pool gets the whole text.
 */

interface OwnerAndRig {
  /** `KEY`, `k:KEY`, or the whole text if it is not a key with a rig's name. */
  readonly owner: string;
  readonly rig?: string;
}

/** Matches a key, a dot and the rig's name. Other accounts are not split, because their names may contain dots. */
const KEY_AND_RIG = /^((?:k:)?[0-9a-fA-F]{64})\.(.*)$/s;

function splitWorkerName(text: string): OwnerAndRig {
  const [, owner, rig] = KEY_AND_RIG.exec(text) ?? [];
  return owner === undefined || rig === undefined ? { owner: text } : { owner, rig };
}

/**
 * @param given a public key, a list of keys, or an account, as in a file
 * @returns the rig's name that follows the first key that has one; undefined if no key has one
 */
export function rigNamedBy(given: unknown): string | undefined {
  const texts = [given].flat().filter((one) => typeof one === 'string');
  return texts.map((text) => splitWorkerName(text).rig).find((rig) => rig !== undefined);
}

/**
 * Matches a user, a dot and the rig's name. E-mail addresses do not match, and texts whose only dot is the first or the
 * last character do not match.
 */
const NAME_AND_RIG = /^[^@]*[^@.]\.([^@.]*[^@.\s][^@.]*)$/;
const MOST_OF_NAME = 64;

/** @param user a user at a pool, like `k:KEY.rig1` or `NAME.rig1` @returns the rig's name in it, if there is one */
export function rigOfPoolUser(user: unknown): string | undefined {
  if (typeof user !== 'string') return undefined;
  const rig = rigNamedBy(user) ?? NAME_AND_RIG.exec(user)?.[1];
  return rig === undefined || rig.length > MOST_OF_NAME || rig.trim() === '' ? undefined : rig;
}
