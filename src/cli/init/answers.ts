/** The answers to the questions of `pickaxe init`, and the file that is made from them. */

import type { PerNode } from '../../config/per-node.ts';
import { exampleToml } from '../../config/print.ts';

export interface Answers {
  /** In order of preference. */
  readonly urls: readonly string[];
  /** The fingerprints of certificates that no authority has signed. */
  readonly fingerprints?: readonly PerNode[];
  /** Undefined where every URL has a path. */
  readonly network?: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  /** Undefined for `k:` and the public key. */
  readonly account?: string;
  /** Undefined unless a rig's name was written after the key or the account. */
  readonly rigName?: string;
  /** Undefined for the CPU and every real GPU. */
  readonly devices?: readonly string[];
}

/** @returns a TOML file that explains every setting, and sets those that were asked for */
export function configText(answers: Answers): string {
  const { urls, fingerprints, network, publicKey, account, rigName, devices } = answers;
  return exampleToml({
    node: { urls, ...(fingerprints && { fingerprints }), ...(network !== undefined && { network }) },
    miner: { publicKeys: [publicKey], ...(account !== undefined && { account }) },
    rig: { ...(rigName !== undefined && { name: rigName }) },
    devices: { ...(devices && { use: devices }) },
  });
}
