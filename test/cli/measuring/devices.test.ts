import { describe, expect, it } from 'vitest';
import { systemContext } from '#pickaxe/app/composition/context.js';
import { runMiner } from '#pickaxe/app/composition/run-miner.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { LogTail } from '#pickaxe/rig/log/log-tail.js';
import { makeLog } from '#pickaxe/rig/terminal/log.js';
import { FakeEngine, FakeSource, makeWork } from '../../fakes.ts';

describe('a device that computes wrong hashes', () => {
  it('causes exit code 6, and nothing that it found is submitted', async () => {
    const source = new FakeSource();
    const liar = new FakeEngine('gpu0');
    liar.wrong = [1n, 2n, 3n];
    source.work(makeWork(2 ** 60));
    const log = makeLog('silent', 'json');
    const usual = { rigName: 'rig-7', context: systemContext, events: new Events(), logTail: new LogTail() };
    const rig = { ...usual, source, engines: [liar], log };
    expect(await runMiner(rig, { duration: 1 })).toBe(6);
    expect(source.submitted).toHaveLength(0);
  });
});
