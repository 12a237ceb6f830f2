/** The answers to the questions of `pickaxe init`, and the file that is made from them. */

import { checkbox } from '@inquirer/prompts';
import { z } from 'zod';
import { settingsToml } from '../../config/print.ts';
import type { PerNode } from '../../config/setting-types/addresses.ts';
import { type SettingType, whyOf } from '../../config/setting-types/basic.ts';
import { DeviceError } from '../../engine/engine.ts';
import { type Gpu, listGpus } from '../../engine/gpu/list-gpus.ts';
import { type Finding, findingLines } from '../../survey/finding.ts';
import { thisMachine } from '../../system/machine.ts';

/** The nodes or the pools to mine on. */
export interface Places {
  /** In order of preference. */
  readonly urls: readonly string[];
  /** The fingerprints of certificates that no authority has signed. */
  readonly fingerprints?: readonly PerNode[];
}

export interface NodeAnswers extends Places {
  /** Undefined where every URL has a path. */
  readonly network?: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  /** Undefined for `k:` and the public key. */
  readonly account?: string;
  /** Undefined unless a rig's name was written after the key or the account. */
  readonly rigName?: string;
}

export interface PoolAnswers extends Places {
  readonly user: string;
  /** Undefined where the pool needs none. */
  readonly password?: Password;
}

export interface Password {
  /** A new file for the password. A relative path starts at the folder of the settings. */
  readonly file: string;
  readonly text: string;
}

/** Either `node` or `pool` is there. */
export interface Answers {
  readonly node?: NodeAnswers;
  readonly pool?: PoolAnswers;
  /** Undefined for the CPU and every real GPU. */
  readonly devices?: readonly string[];
}

/** @returns a TOML file of the settings that were asked for; the password is not in it */
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

/* Prints lines between the questions. */

const INDENT = '  ';
/** The assumed width of a terminal that does not report its own. */
const USUAL_COLUMNS = 80;

export function say(...lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${INDENT}${line}\n`).join(''));
}

export function sayFindings(findings: readonly Finding[]): void {
  say(...findingLines(findings, (process.stdout.columns || USUAL_COLUMNS) - INDENT.length));
}

/* Reads what was typed at a prompt as the value of a setting. The prompt says what is wrong, and asks again. */

/** @returns a check of typed texts for a prompt: its result is true, or says what is wrong */
export function accepts(type: SettingType<string>): (text: string) => true | string {
  const schema = type.schema(z);
  return (text) => {
    const { error } = schema.safeParse(text.trim());
    if (!error) return true;
    const why = whyOf(error.issues);
    return why === undefined ? type.says : `Not valid: ${why}. ${type.says}`;
  };
}

/** @param text one that the type accepts */
export function read(type: SettingType<string>, text: string): string {
  return type.schema(z).parse(text.trim());
}

/** Asks what to mine with. */
export async function askDevices(): Promise<Pick<Answers, 'devices'>> {
  const gpus = await list();
  const usable = gpus.filter(({ usable }) => usable);
  say(...gpus.filter(({ usable }) => !usable).map(({ name, model, why }) => `${name}, ${model}, is not used: ${why}`));
  if (usable.length === 0) {
    say(`the CPU mines: ${thisMachine().cpu}`);
    return {};
  }
  const devices = await checkbox({
    message: 'Devices to mine with',
    required: true,
    choices: [
      { name: `cpu   ${thisMachine().cpu}`, value: 'cpu', checked: true },
      ...usable.map(({ name, model }) => ({ name: `${name.padEnd(5)} ${model}`, value: name, checked: true })),
    ],
  });
  // All devices are the default, which also counts for devices that are added later.
  return devices.length === usable.length + 1 ? {} : { devices };
}

async function list(): Promise<readonly Gpu[]> {
  try {
    return await listGpus();
  } catch (fault) {
    if (!(fault instanceof DeviceError)) throw fault;
    say(`no GPU: ${fault.message}`);
    return [];
  }
}
