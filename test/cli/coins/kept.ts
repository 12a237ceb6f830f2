/** Sweeps and transfers that an earlier run has kept, and what commands print about them. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { loadConfig } from '#pickaxe/app/config/load.js';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { runSweep } from '#pickaxe/cli/coins/sweep/sweep.js';
import { runTxTransfer } from '#pickaxe/cli/coins/sweep/transfer.js';
import { SweepStore } from '#pickaxe/node/sweep/state-files.js';
import { type Outcome, plannedTransfer, type Sweep, type Transfer } from '#pickaxe/node/sweep/sweep-state.js';
import { requestKeyOfCmd } from '#pickaxe/protocol/ledger/command/command.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { decodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { ACCOUNT, PAIR, SECRET } from '../../node/sweep/world.ts';

export const coins = parseDecimal;
export const OTHER = 'e'.repeat(64);
export const GUARD = { keys: [PAIR.publicKey, OTHER], pred: 'keys-any' };

function signed(chain: number) {
  const meta = { chainId: `${chain}`, sender: 'a', gasLimit: 1, gasPrice: 1e-8, ttl: 600, creationTime: 1 };
  const payload = { exec: { code: '1', data: null } };
  const cmd = JSON.stringify({ networkId: 'own', payload, signers: [{ pubKey: PAIR.publicKey }], meta, nonce: '' });
  const hash = requestKeyOfCmd(cmd);
  return { cmd, hash, sigs: [{ sig: PAIR.sign(decodeBase64url(hash)) }] };
}

export function moved(chain: number, outcome?: Outcome | null, amount = '1.5'): Transfer {
  const planned = plannedTransfer(chain, coins(amount), 2_500);
  return outcome === undefined ? planned : { ...planned, step0: signed(chain), signedMs: 1, outcome };
}

export const done = (by: 'us' | 'somebody else', provenBy: Outcome['provenBy']): Outcome => ({
  ...{ state: 'done', by, provenBy },
  gasCost: coins('0.00001'),
});
export const failed = (reason: string, provenBy: Outcome['provenBy']): Outcome => ({
  ...{ state: 'failed', reason, provenBy },
  gasCost: coins('0.00002'),
});

const SWEEP: Sweep = {
  ...{ network: 'own', account: ACCOUNT, guard: GUARD, receiver: null, targetChain: 0 },
  ...{ gasPrice: coins('0.00000001'), gasStation: null, startedMs: 1, transfers: [] },
};

/** @returns what the command with --resume prints about this state, with its code, or why it refuses */
export async function resumed(
  kind: 'sweep' | 'transfer',
  changes: Partial<Sweep>,
  options: object = {},
  named: object = { 'miner.account': ACCOUNT },
  stop: AbortSignal = NEVER,
) {
  const sweep = { ...SWEEP, ...changes };
  const directory = mkdtempSync(join(tmpdir(), 'pickaxe-kept-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const store = new SweepStore(directory, sweep.network, sweep.account, kind);
  store.open();
  store.save(sweep);
  store.close();
  const settings = { 'node.urls': ['http://127.0.0.1:9'], 'node.network': 'own', ...named };
  const flags = new Map<string, string | string[]>(Object.entries(settings));
  const loaded = loadConfig({ flags, environment: {}, cwd: directory });
  let text = '';
  const io = {
    out: (it: string) => {
      text += it;
    },
    say: (it: string) => {
      text += `> ${it}\n`;
    },
    ...{ confirm: async () => undefined, stateDirectory: directory, clock: systemClock, pauseMs: 1, stop },
  };
  const usual = { yes: false, resume: true, timeout: 1, json: false, keep: 0n, min: 0n, ...options };
  try {
    const code = kind === 'sweep' ? await runSweep(loaded, usual, io) : await runTxTransfer(loaded, usual, io);
    text += `code ${code}`;
  } catch (error) {
    text += `${error}`;
  }
  return text
    .replaceAll(PAIR.publicKey, 'KEY')
    .replaceAll(OTHER, 'OTHER')
    .replace(/(?<= |")[\w-]{43}(?=[ :"\n]|$)/gm, 'HASH');
}
export const PAYMENT = { receiver: { account: 'bob', guard: { keys: [OTHER], pred: 'keys-all' } } };

/** @returns what a command prints that is stopped before it does anything */
export async function stopped(kind: 'sweep' | 'transfer', changes: Partial<Sweep>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-key-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'key.json');
  writeFileSync(file, JSON.stringify({ publicKey: PAIR.publicKey, secretKey: SECRET }), { mode: 0o600 });
  const guard = { keys: [PAIR.publicKey], pred: 'keys-all' };
  const run = { yes: true, keyFile: [file], json: true, gasPrice: coins('0.00000002') };
  const text = await resumed(kind, { guard, ...changes }, run, undefined, AbortSignal.abort());
  return text.replaceAll(file, 'FILE').split('\n').slice(1).join('\n');
}

/** The flags with which such a command goes on. */
export const AGAIN = '--account k:KEY --node http://127.0.0.1:9 --network own --gas-price 0.00000002';
