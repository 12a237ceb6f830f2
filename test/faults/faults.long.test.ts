/** Starts every script of this folder in its shortest form and checks the result. */

import { expect } from 'vitest';
import { ourNiceness } from '../priority.ts';
import { number, positive, type Result, testScripts, withResult } from '../scripts/starts.ts';

testScripts('test/faults', {
  'test/faults/contract-fuzz.mjs': withResult('--programs 100 --seed 2 --max-steps 5000', [], (result) => {
    expect(result).toMatchObject({ programs: 100, findings: [], seconds: positive });
  }),
  'test/faults/faulty-node.mjs': withResult(
    '--seconds 20 --sessions 2 --difficulty 262144',
    ['linux'],
    ({ rigs, ratio }) => {
      expect(ratio).toEqual(positive);
      expect(rigs.map(({ rig }: { rig: string }) => rig)).toEqual(['with faults', 'without']);
      for (const { ledger, work } of rigs) {
        expect(ledger).toMatchObject({ accepted: positive, rejected: 0, doubled: 0 });
        expect(work).toMatchObject({ p50: number, max: positive });
      }
    },
  ),
  'test/faults/fleet-faults.mjs': withResult(
    '--scenarios none,server,coordinators,own-node-killed --seconds 4 --rigs 2 --no-goals',
    ['linux', 'nats'],
    ({ results }) => {
      expect(results.map(({ scenario }: { scenario: string }) => scenario)).toEqual([
        'none',
        'server',
        'coordinators',
        'own-node-killed',
      ]);
      for (const each of results) {
        expect(each).toMatchObject({ found: positive, accepted: positive, rejected: 0, lost: 0, missed: 0 });
        expect(each).toMatchObject({ pending: 0, node: { doubled: 0 } });
        expect(each.exitCodes).toEqual(each.exitCodes.map(() => 0));
      }
    },
  ),
  'test/faults/gpu-endurance.mjs': { startedBy: 'bench/gpu-run-sheet.mjs' },
  'test/faults/http-attacks.mjs': withResult('--seconds 1 --attacks silent,long-first', ['linux'], ({ results }) => {
    expect(results.map(({ attack }: { attack: string }) => attack)).toEqual(['none', 'silent', 'long-first']);
    expect(results[1]).toMatchObject({ opened: positive, rssPeakMib: positive, mainPercent: positive });
    expect(results[1].probes.after).toMatchObject({ asked: positive });
  }),
  'test/faults/node-misbehaviour.mjs': withResult(
    '--seconds 2 --scenario broken-verdict --scenario retry-warnings --scenario one-refused --scenario hints-updates --no-goals',
    ['linux'],
    ({ results }) => {
      expect(results).toMatchObject([
        { name: 'broken-verdict', n: 1, worst: 0 },
        { name: 'retry-warnings', n: 1, worst: 0 },
        { name: 'one-refused', n: 1, worst: number },
        { name: 'hints-updates', n: 1, worst: positive },
      ]);
    },
  ),
  'test/faults/pool-misbehaviour.mjs': withResult(
    '--seconds 0.2 --attack newlines-2.5 --attack easy-header --attack-seconds 2 --warm-up 1',
    ['linux'],
    ({ results, attacks }) => {
      expect(results.length).toBeGreaterThan(8);
      for (const result of results) expect(result).toMatchObject({ connections: positive, recovered: true });
      expect(attacks.map(({ attack }: Result) => attack)).toEqual(['none', 'newlines-2.5', 'easy-header']);
      const figures = { mhs: number, healthzMs: { p50: positive, max: positive }, mainPercent: number, shares: number };
      for (const each of attacks) expect(each).toMatchObject({ ...figures, connections: positive, rssMib: positive });
      expect(attacks[1].warnings.join()).toContain('the pool sends far more than a pool needs');
    },
  ),
  'test/faults/soak.mjs': {
    args: ['--seconds', '20', '--json'],
    needs: ['linux'],
    check: ({ stdout }) => {
      const { node, miner } = JSON.parse(stdout);
      expect(node).toMatchObject({ accepted: positive, rejected: 0, duplicates: 0, timeViolations: 0 });
      expect(miner).toMatchObject({ type: 'summary', accepted: node.accepted, hardwareErrors: 0 });
    },
  },
  'test/faults/staleness.mjs': withResult(
    '--seconds 2 --scenario healthy --scenario suspended --no-goals',
    ['linux'],
    ({ results }) => {
      expect(results).toMatchObject([
        { name: 'healthy', n: 5, mean: number },
        { name: 'suspended', n: 3, worst: positive },
      ]);
    },
  ),
  'test/faults/stratum-misbehaviour.mjs': withResult(
    `--short --no-goals --attacks junk,slow,within,poisoned-here,poisoned-elsewhere,tls-checks,tls-hang-ups,files --niceness ${ourNiceness}`,
    ['linux'],
    ({ results, scenarios, honest }) => {
      expect(results.map(({ attack }: { attack: string }) => attack)).toEqual(['none', 'junk', 'slow', 'within']);
      expect(scenarios).toEqual([
        { scenario: 'poisoned-here', miners: 12, drops: 0, bans: 0, connected: 12 },
        { scenario: 'poisoned-elsewhere', miners: 12, drops: 0, bans: 0, connected: 12 },
        { scenario: 'tls-checks', clients: 60, served: 60, bans: 0, isMinerServed: true },
        { scenario: 'tls-hang-ups', clients: 60, served: 60, bans: 0, isMinerServed: true },
        {
          scenario: 'files',
          files: 700,
          clients: 800,
          connected: expect.toSatisfy((count: number) => count > 0 && count <= 700 - 256),
          refused: expect.toSatisfy((count: number) => count >= 800 - (700 - 256)),
          page: 200,
          linesAboutFiles: 0,
          isWatched: true,
        },
      ]);
      expect(results[1]).toMatchObject({ opened: positive, closed: positive, pingMs: { p50: positive } });
      expect(honest).toMatchObject({ accepted: positive, refused: {}, lost: 0, ledgerLinesLost: 0 });
    },
  ),
});
