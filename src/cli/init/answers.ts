/** What `pickaxe init` finds out, and the file that it makes of it. */

import { exampleToml } from '../../config/print.ts';

export interface Answers {
  /** In order of preference. */
  readonly urls: readonly string[];
  /** Left out where every URL has a path. */
  readonly network?: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  /** Left out, `k:` and the public key. */
  readonly account?: string;
  /** Left out, the CPU and every real GPU. */
  readonly devices?: readonly string[];
}

/** Every setting explained, with those that were asked for set. */
export function configText({ urls, network, publicKey, account, devices }: Answers): string {
  return exampleToml({
    node: { urls, ...(network !== undefined && { network }) },
    miner: { publicKeys: [publicKey], ...(account !== undefined && { account }) },
    devices: { ...(devices && { use: devices }) },
  });
}
