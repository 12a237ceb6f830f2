/** Reads from the settings what makes the certificate of a node or a pool trusted. */

import { valuesFor } from '../config/per-node.ts';
import type { Config } from '../config/settings.ts';
import type { Trust } from '../net/trust.ts';
import { certificatesIn } from './ca-file.ts';

/** @throws UsageError when a file holds no valid certificates */
export function nodeTrust(url: string, node: Config['node']): Trust {
  return trustIn(url, node, node.insecureTls, '--node-ca-file');
}

/** @throws UsageError when a file holds no valid certificates */
export function poolTrust(url: string, pool: Config['pool'], { insecureTls }: Config['node']): Trust {
  return trustIn(url, pool, insecureTls, '--pool-ca-file');
}

function trustIn(
  url: string,
  { fingerprints = [], caFiles = [] }: Pick<Config['node'], 'fingerprints' | 'caFiles'>,
  insecureTls: boolean,
  option: string,
): Trust {
  const pinned = valuesFor(url, fingerprints);
  if (pinned.length > 0) return { by: 'fingerprint', fingerprints: pinned };
  if (insecureTls) return { by: 'nothing' };
  const files = valuesFor(url, caFiles);
  if (files.length === 0) return { by: 'authority' };
  return { by: 'authority', authorities: files.flatMap((file) => certificatesIn(file, option)) };
}
