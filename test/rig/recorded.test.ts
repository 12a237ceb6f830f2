/** What a rig shows of events drawn at random: its status, its pages, its status line, its log and its JSON lines. */

import { it } from 'vitest';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { JsonLines } from '#pickaxe/rig/log/json-lines.js';
import { LogLines } from '#pickaxe/rig/log/log-lines.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { connection, hashrates, health, results, workers } from '#pickaxe/rig/terminal/pages.js';
import { statusLine } from '#pickaxe/rig/terminal/status-line.js';
import { type Recorded, recordIn, written } from '../recorded.ts';
import { drawer } from '../variants.ts';
import { eventDrawer, rounded } from './drawn-events.ts';
import { FakeClock, hashes, linesOf } from './status/fakes.ts';

const MOMENTS = 30;
/** Number of lines of the log that are recorded together. */
const LINES_AT_ONCE = 10;

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

/** Paints a text, so that a wrong style is seen. */
const paint = (style: string, text: string) => `<${style}>${text}</>`;

function momentsOf(seed: number): Recorded[] {
  const one = drawer(seededRandom(100 + seed));
  const kind = seed % 2 === 0 ? 'node' : 'pool';
  const draw = eventDrawer(seed, kind);
  const clock = new FakeClock();
  const terms = seed % 3 === 0 ? {} : { coinsAt: () => 0.98, powerPrice: 0.3, ...one({}, { powerWatts: 500 }) };
  const tally = new Tally(clock, [{ name: 'cpu', kind: 'cpu' }], one([], [{ name: 'stratum' }]), kind, terms);
  const json: string[] = [];
  const jsonLines = new JsonLines((line) => json.push(line), clock);
  const outcomes: Recorded[] = [];
  const log = linesOf((logger) => {
    const logLines = new LogLines(logger, tally);
    for (let i = 0; i < MOMENTS; i++) {
      const happened = Array.from({ length: one(1, 3, 6) }, draw);
      const rate = one(0, 1e6, 8e9);
      for (const name of ['cpu', 'gpu0']) {
        happened.push(hashes(name, rate), { type: 'proof', device: name, hashes: rate, difficulty: rate });
      }
      for (const event of happened) {
        tally.listen(event);
        logLines.listen(event);
        jsonLines.listen(event);
      }
      if (one(true, false)) logLines.speed();
      clock.advance(one(1, 500, 1_000, 10_000, 60_000, 900_000));
      const status = tally.status();
      const lines = [200, 110, 80, 50, 20].map((columns) => statusLine(status, columns, paint, one(true, false)));
      const pages = [hashrates, health, results, connection, workers].flatMap((page) => page(status));
      jsonLines.hashrate(status);
      const outcome = rounded([written(status), ...lines, ...pages, ...json.splice(0)].join('\n'));
      outcomes.push({ input: `${i}: ${written(happened)}`, outcome });
    }
  });
  for (let i = 0; i < log.length; i += LINES_AT_ONCE) {
    outcomes.push({ input: `line ${i}`, outcome: rounded(log.slice(i, i + LINES_AT_ONCE).join('\n')) });
  }
  return outcomes;
}

it.each([0, 1, 2, 3, 4, 5, 6, 7])('rig %i shows what is recorded', (seed) => {
  expectRecorded(`rig ${seed}`, momentsOf(seed));
});
