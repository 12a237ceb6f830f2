/** Reads from the settings what makes a node's certificate trusted. */

import { valuesFor } from '../config/per-node.ts';
import type { Config } from '../config/settings.ts';
import type { Trust } from '../net/trust.ts';
import { certificatesIn } from './ca-file.ts';

/** @throws UsageError when a file holds no valid certificates */
export function nodeTrust(url: string, { fingerprints = [], caFiles = [], insecureTls }: Config['node']): Trust {
  const pinned = valuesFor(url, fingerprints);
  if (pinned.length > 0) return { by: 'fingerprint', fingerprints: pinned };
  if (insecureTls) return { by: 'nothing' };
  const files = valuesFor(url, caFiles);
  if (files.length === 0) return { by: 'authority' };
  return { by: 'authority', authorities: files.flatMap((file) => certificatesIn(file, '--node-ca-file')) };
}
