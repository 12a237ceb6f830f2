/** Whole work records, solved by the CPU. */

import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import { fromHex } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { parseWork } from '#pickaxe/protocol/chain/work.js';
import { FakeSource, Recorder } from '../../fakes.ts';
import { ourNiceness } from '../../priority.ts';
import { workRecords } from '../../vectors.ts';

/** Header bytes that a miner may change: creation time and nonce. */
const OWN = (i: number) => (i >= 8 && i < 16) || i >= 278;

describe('whole work records', () => {
  it('are solved by the miner at the record’s own target', async () => {
    const source = new FakeSource();
    const events = new Recorder();
    const random = (below: number) => Math.floor(Math.random() * below);
    const engines = [new CpuEngine({ threads: 1, niceness: ourNiceness })];
    const stop = new AbortController();
    const done = new Miner({ source, engines, emit: events.listen, clock: systemClock, random }).run(stop.signal);
    const records = Object.values(workRecords).flat();
    expect(records.length).toBeGreaterThan(10);
    for (const [i, { workHex }] of records.entries()) {
      const work = source.work(parseWork(fromHex(workHex)));
      await vi.waitFor(() => expect(source.submitted).toHaveLength(i + 1), { timeout: 60_000, interval: 1 });
      const { header } = source.submitted[i];
      expect(meetsTarget(powHash(header), fromHex(workHex.slice(8, 72)))).toBe(true);
      expect([...header.keys()].filter((at) => header[at] !== work.header[at]).every(OWN)).toBe(true);
    }
    stop.abort();
    await done;
    expect(events.of('hardware-error')).toHaveLength(0);
  });
});
