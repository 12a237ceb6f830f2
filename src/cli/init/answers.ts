/** The answers to the questions of `pickaxe init`, and the file that is made from them. */

import type { PerNode } from '../../config/per-node.ts';
import { settingsToml } from '../../config/print.ts';

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
    ...(pool && poolSettings(pool)),
    devices: { ...(devices && { use: devices }) },
  });
}

function nodeSettings({ urls, fingerprints, network, publicKey, account, rigName }: NodeAnswers) {
  return {
    node: { urls, ...(fingerprints && { fingerprints }), ...(network !== undefined && { network }) },
    miner: { publicKeys: [publicKey], ...(account !== undefined && { account }) },
    rig: { ...(rigName !== undefined && { name: rigName }) },
  };
}

function poolSettings({ urls, fingerprints, user, password }: PoolAnswers) {
  return {
    pool: { urls, ...(fingerprints && { fingerprints }), user, ...(password && { passwordFile: password.file }) },
  };
}
