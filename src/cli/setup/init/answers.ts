/** The answers to the questions of `pickaxe init`, and the configuration file made from them. */

import { z } from 'zod';
import { settingsToml } from '../../../app/config/print.ts';
import type { PerNode } from '../../../app/config/setting-types/addresses.ts';
import { type SettingType, whyOf } from '../../../app/config/setting-types/basic.ts';
import { thisMachine } from '../../../base/system/machine.ts';
import { DeviceError } from '../../../miner/engine/engine.ts';
import type { Gpu } from '../../../miner/engine/gpu/list-gpus.ts';
import { gpusOf, type Io } from '../../io.ts';
import type { Questions } from './questions.ts';

/** The nodes or the pools to mine on. */
export interface Places {
  /** The URLs, in order of preference. */
  readonly urls: readonly string[];
  /** Fingerprints of certificates that no authority has signed, and that the user trusts. */
  readonly fingerprints?: readonly PerNode[];
}

export interface NodeAnswers extends Places {
  /** Absent if every URL has a path, which contains the network. */
  readonly network?: string;
  /** The miner's public key, 64 hex digits. */
  readonly publicKey: string;
  /** Absent for the usual account: `k:` followed by the public key. */
  readonly account?: string;
  /** Present if the user has typed a rig's name after the key or the account. */
  readonly rigName?: string;
}

export interface PoolAnswers extends Places {
  readonly user: string;
  /** Absent if the pool needs no password. */
  readonly password?: Password;
}

export interface Password {
  /** Path of a new file for the password. A relative path starts at the folder of the settings. */
  readonly file: string;
  readonly text: string;
}

/** All answers. They have either `node` or `pool`. */
export interface Answers {
  readonly node?: NodeAnswers;
  readonly pool?: PoolAnswers;
  /** Names of devices. Absent for the default: the CPU and every real GPU. */
  readonly devices?: readonly string[];
}

/** @returns TOML. It names the password's file, but does not contain the password */
export function configText({ node, pool, devices }: Answers): string {
  return settingsToml({
    ...(node && nodeSettings(node)),
    ...(pool && { pool: poolSettings(pool) }),
    ...(devices && { devices: { use: devices } }),
  });
}

function nodeSettings({ publicKey, account, rigName, ...node }: NodeAnswers) {
  return {
    node,
    miner: { publicKeys: [publicKey], ...(account !== undefined && { account }) },
    ...(rigName !== undefined && { rig: { name: rigName } }),
  };
}

function poolSettings({ password, ...pool }: PoolAnswers) {
  return { ...pool, ...(password && { passwordFile: password.file }) };
}

/** @returns a function that checks a typed text. It returns true, or the reason why the text is not valid */
export function accepts(type: SettingType<string>): (text: string) => true | string {
  const schema = type.schema(z);
  return (text) => {
    const { error } = schema.safeParse(text.trim());
    if (!error) return true;
    const why = whyOf(error.issues);
    if (why === undefined) return type.hint;
    return `Not valid: ${why}${why.endsWith('?') ? '' : '.'} ${type.hint}`;
  };
}

export function read(type: SettingType<string>, text: string): string {
  return type.schema(z).parse(text.trim());
}

export async function askDevices(ask: Questions, io: Pick<Io, 'listGpus'>): Promise<Pick<Answers, 'devices'>> {
  const gpus = await list(ask, io);
  const usable = gpus.filter(({ usable }) => usable);
  ask.say(
    ...gpus.filter(({ usable }) => !usable).map(({ name, model, why }) => `${name}, ${model}, is not used: ${why}`),
  );
  if (usable.length === 0) {
    ask.say(`the CPU mines: ${thisMachine().cpu}`);
    return {};
  }
  const devices = await ask.selectSome('Devices to mine with', [
    { name: `cpu   ${thisMachine().cpu}`, value: 'cpu' },
    ...usable.map(({ name, model }) => ({ name: `${name.padEnd(5)} ${model}`, value: name })),
  ]);
  // If all devices are chosen, none is named: the default then also includes devices that are added later.
  return devices.length === usable.length + 1 ? {} : { devices };
}

async function list(ask: Questions, io: Pick<Io, 'listGpus'>): Promise<readonly Gpu[]> {
  try {
    return await gpusOf(io);
  } catch (fault) {
    if (!(fault instanceof DeviceError)) throw fault;
    ask.say(`no GPU: ${fault.message}`);
    return [];
  }
}
