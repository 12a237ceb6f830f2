/** What has become of a command, for people. Its texts are foreign, so they are made safe to print. */

import { oneLine } from '../../text/one-line.ts';
import type { ShownResult } from './results.ts';
import { row } from './row.ts';

/** @param chain on which the command ran, for what comes next */
export function resultLines(result: ShownResult, chain: number): string[] {
  const { requestKey, status, data, error, gas, block, events } = result;
  return [
    ...(requestKey === null ? [] : [row('command', requestKey)]),
    row('result', error === null ? WORDS[status] : `failure: ${oneLine(error)}`),
    ...(status === 'success' ? [row('data', oneLine(JSON.stringify(data)))] : []),
    ...(gas === null ? [] : [row('gas', `${gas} units`)]),
    ...(block
      ? [row('block', oneLine([`height ${block.height ?? 'unknown'}`, block.hash ?? []].flat().join(', ')))]
      : []),
    ...events.map(({ name, parameters }) =>
      row('event', oneLine(`(${[name, ...parameters.map((each) => JSON.stringify(each))].join(' ')})`)),
    ),
    ...nextLines(result, chain),
  ];
}

const WORDS: Readonly<Record<ShownResult['status'], string>> = {
  success: 'success',
  failure: 'failure',
  pending: 'none yet',
  expired: 'none, and the time to live is over: there will be none, so build the command again if you still want it',
};

const REQUEST_KEY = /^[\w-]{43}$/;
const CHAIN = /^\d{1,9}$/;

function nextLines({ status, continuation }: ShownResult, chain: number): string[] {
  if (!continuation || status !== 'success') return [];
  const { requestKey, step, stepCount, targetChain } = continuation;
  const left = stepCount - step - 1;
  if (left <= 0) return [row('steps', `all ${stepCount} are done`)];
  const lines = [row('steps', `${step + 1} of ${stepCount} done`)];
  if (targetChain === null) return lines;
  const next = `runs on chain ${oneLine(targetChain)}`;
  // What a person may run must not have words that a node has chosen.
  if (!REQUEST_KEY.test(requestKey) || !CHAIN.test(targetChain)) return [...lines, row('next', next)];
  const ask = `pickaxe tx spv ${requestKey} --chain ${chain} --target-chain ${targetChain}`;
  return [...lines, row('next', `${next}, with the proof of: ${ask}`)];
}
