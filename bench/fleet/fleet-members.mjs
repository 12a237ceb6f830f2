// The built coordinators and rigs of a fleet, in processes of their own, with the lines that they print.

import { BuiltPickaxe } from '../lib/built-pickaxe.mjs';

/** Nobody has this key's secret. */
const KEY = '0'.repeat(64);

const natsFlags = (urls) => urls.flatMap((url) => ['--nats', url]);

/** @param key the public key that is paid @param more further flags */
export function startCoordinator(name, { nats, node, key = KEY, more = [] }) {
  const onNode = ['--node', node, '--network', 'development', '--public-key', key];
  return new BuiltPickaxe(['coordinate', ...natsFlags(nats), ...onNode, '--rig-name', name, ...more, '--json']);
}

/** @param more further flags */
export function startRig(name, { nats, threads = 1, more = [] }) {
  const hash = ['--devices', 'cpu', '--threads', String(threads), '--rig-name', name];
  return new BuiltPickaxe(['mine', ...natsFlags(nats), ...hash, ...more, '--json']);
}

export function startOperator({ nats }) {
  return new BuiltPickaxe(['fleet', ...natsFlags(nats), '--json']);
}
