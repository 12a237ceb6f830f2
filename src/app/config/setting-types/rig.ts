/** Types of settings about the miner, its devices and its network. */

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
 * Names contain neither control characters nor invisible ones (Unicode's Cc, Cf, Zl and Zp). With such a character, the
 * user whom a pool pays would differ from the user that is shown.
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

/** An Ed25519 public key: 32 bytes as lower-case hex digits. `k:KEY` and `k:KEY.rig1` stand for the same key. */
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

/** @param before number of characters before the key */
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

/** An account's name. `k:KEY.rig1` stands for the account `k:KEY`; names that are not keys may have dots. */
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

/** Pools accept users of different forms. A dot before the worker's name is only a custom. */
export const poolUser = text(
  ACCOUNT,
  'Give the user as the pool wants it, like NAME.WORKER, of 1 to 256 characters that one can see.',
);

/** Some pools take settings as the password, like `d=1000`. URLs are refused: other miners expect the URL here. */
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

/** `all` stands for the CPU and every real GPU. A rig without devices, written `none`, only serves others. */
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

/** A list of CPUs in Linux's form: `0,2-5`. */
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

/** What is simulated: devices with a hashrate, a constant time between blocks of a chain, or blocks on demand. */
export type Simulation =
  | { readonly kind: 'hashrate'; readonly hashesPerSecond: number }
  | { readonly kind: 'delay'; readonly seconds: number }
  | { readonly kind: 'on-demand'; readonly address: HttpAddress };

const HOW = /^(hashrate|delay|on-demand)=(.+)$/;
/** Longest time between blocks, a day: rarer blocks test nothing. */
const MOST_SECONDS = 86_400;
/** Shortest time between blocks: twenty chains then get a block per millisecond, the fastest possible rate. */
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
 * Systems report the last use to within 8 seconds, so less than 10 is refused. More than a day is as good as never.
 */
const idle = time(
  10,
  86_400,
  'Give at least 10 seconds, or a time like 5m, up to a day; or true (60 seconds), or none.',
);

/** An idle time in seconds; `true` stands for 60. */
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

/** Batch files, which Windows runs with cmd.exe. cmd.exe ignores dots and blanks at the end of a name. */
const BATCH = /\.(bat|cmd)[. ]*$/i;

/** A command line for the shell or, as a list, a program and its arguments, which no shell interprets. */
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

/** The notices of `rig/notify/`; a test compares both lists. */
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
 * Mining systems write a wallet and a worker's name as one text, like HiveOS's `%WAL%.%WORKER_NAME%`. So in
 * `k:KEY.rig1`, given as a public key or an account, the part after the dot names the rig, as in the user at a pool,
 * which is sent whole.
 */

interface OwnerAndRig {
  /** `KEY`, `k:KEY`, or the whole text where no rig's name follows a key. */
  readonly owner: string;
  readonly rig?: string;
}

/** A key, a dot and the rig's name. Other accounts are not split, since their names may contain dots. */
const KEY_AND_RIG = /^((?:k:)?[0-9a-fA-F]{64})\.(.*)$/s;

function splitWorkerName(text: string): OwnerAndRig {
  const [, owner, rig] = KEY_AND_RIG.exec(text) ?? [];
  return owner === undefined || rig === undefined ? { owner: text } : { owner, rig };
}

/** @param given a public key, a list of them, or an account, as written. @returns the first rig name in it */
export function rigNamedBy(given: unknown): string | undefined {
  const texts = [given].flat().filter((one) => typeof one === 'string');
  return texts.map((text) => splitWorkerName(text).rig).find((rig) => rig !== undefined);
}

/** A user, a dot and the rig's name. E-mail addresses do not match, nor texts whose only dot is first or last. */
const NAME_AND_RIG = /^[^@]*[^@.]\.([^@.]*[^@.\s][^@.]*)$/;
const MOST_OF_NAME = 64;

/** @param user a pool's user, like `k:KEY.rig1` or `NAME.rig1`. @returns the rig's name in it */
export function rigOfPoolUser(user: unknown): string | undefined {
  if (typeof user !== 'string') return undefined;
  const rig = rigNamedBy(user) ?? NAME_AND_RIG.exec(user)?.[1];
  return rig === undefined || rig.length > MOST_OF_NAME || rig.trim() === '' ? undefined : rig;
}
