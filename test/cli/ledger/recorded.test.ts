/** What commands print of a node whose clock stands still, as a report and as JSON. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { getBalance } from '#pickaxe/protocol/ledger/command/coin.js';
import { commandJson } from '#pickaxe/protocol/ledger/command/command.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { alice, banksOf, commandOf, read, toBob, toChain } from '../../mock-node/execution/bank.ts';
import { DIALECTS } from '../../mock-node/node.ts';
import { recordIn } from '../../recorded.ts';
import { pickaxe } from '../in-process.ts';
import { cacheHome } from '../pickaxe.ts';

const NOW_S = 1_800_000_000;
const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

describe.each(DIALECTS)('of a node of the dialect %s', (dialect) => {
  it('commands print what is recorded', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW_S * 1_000 });
    onTestFinished(() => void vi.useRealTimers());
    const bank = await banksOf(dialect)(
      { chains: 3 },
      { clock: { ...systemClock, nowUs: () => BigInt(NOW_S) * 1_000_000n } },
    );
    bank.grow(4);
    const meta = { creationTime: NOW_S - 15 };
    const paid = commandOf(0, toBob('1.5'), { meta, nonce: 'paid' });
    const moved = commandOf(0, toChain(1, '0.5'), { meta, nonce: 'moved' });
    const failed = commandOf(0, toBob('500.0'), { meta, nonce: 'failed' });
    await bank.send(0, paid, moved, failed);
    bank.grow(5);
    const files = Object.entries({
      paid,
      moved,
      failed,
      balance: commandOf(0, read(getBalance('coin', alice)), { meta, nonce: 'q', signers: [] }),
    });
    for (const [name, command] of files) writeFileSync(join(cacheHome, `${name}.json`), commandJson(command));
    const file = (name: string) => join(cacheHome, `${name}.json`);
    const [block, parent] = [5_000_005n, 5_000_003n].map(
      (height) => bank.node.ledger.chains.blocksOf(0).canonical(height)!,
    );
    const payload = encodeBase64url(block.header.payloadHash);
    const lines: string[][] = [
      ['ledger', 'cut'],
      ['ledger', 'cut', '--max-height', '15000010'],
      ['ledger', 'info'],
      ['ledger', 'block', '0', '--min-height', '5000004', '--limit', '3', '--verify'],
      ['ledger', 'block', '1', '--last', '2'],
      ['ledger', 'hash', '0', '--min-height', '5000004', '--max-height', '5000006'],
      ['ledger', 'branch', '0', '--upper', block.id, '--lower', parent.id],
      ['ledger', 'payload', '0', payload],
      ['ledger', 'payload', '0', 'A'.repeat(43)],
      ['ledger', 'block', '9'],
      ['balance', alice],
      ['balance', 'nobody'],
      ['tx', 'show', file('paid')],
      ['tx', 'show', file('moved')],
      ['tx', 'local', file('balance')],
      ['tx', 'local', file('paid'), '--preflight'],
      ['tx', 'poll', file('paid')],
      ['tx', 'poll', file('failed')],
      ['tx', 'spv', file('moved'), '--target-chain', '1'],
    ];
    for (const line of lines) {
      for (const more of [[], ['--json']]) {
        const place = line[1] === 'show' ? [] : ['--node', bank.url, '--network', 'development'];
        const { code, stdout, stderr } = await pickaxe(...line, ...more, ...place);
        const plain = (text: string) => text.replaceAll(bank.url, 'NODE').replaceAll(cacheHome, 'FOLDER');
        const input = plain([...line, ...more].join(' '));
        const outcome = `${code}\n${plain(stdout)}\n${plain(stderr)}`;
        expectRecorded(`${dialect}: ${input}`, [{ input, outcome }]);
      }
    }
  });
});
