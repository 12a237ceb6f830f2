import { expect, it } from 'vitest';
import { FleetRates } from './fleet-rates.ts';
import { Simulation } from './simulation.ts';

type Sent = readonly [process: number, subject: string, count: number][];

/** @returns what is wrong when processes send these numbers of messages at once */
function wrongAfter(sent: Sent): string[] {
  const simulation = new Simulation({ seed: 1, minutes: 1 });
  const rates = new FleetRates(simulation);
  const processes = [1, 2].map((at) => simulation.time.start(`member${at}`));
  for (const [process, subject, count] of sent) {
    for (let i = 0; i < count; i++) rates.count(processes[process], subject);
  }
  return simulation.violations.map(({ what }) => what);
}

it.each<[string, Sent, string[]]>([
  ['six requests for the work', [[0, 'pickaxe.hello.c0.r', 6]], []],
  ['seven requests for the work', [[0, 'pickaxe.hello.c0.r', 7]], ['member1 sends too many pickaxe.hello.c0.r']],
  [
    'requests of two processes, and to two coordinators',
    [
      [0, 'pickaxe.hello.c0.r', 6],
      [1, 'pickaxe.hello.c0.r', 6],
      [0, 'pickaxe.hello.c1.r', 6],
    ],
    [],
  ],
  ['many reports', [[1, 'pickaxe.report.r', 4]], ['member2 sends too many pickaxe.report.r']],
  [
    'works and beats, which are states both',
    [
      [0, 'pickaxe.work.c', 300],
      [0, 'pickaxe.beat.c', 181],
    ],
    ['member1 sends too many states'],
  ],
  ['what has no bound', [[0, 'pickaxe.control.r', 10_000]], []],
])('%s', (_, sent, wrong) => {
  expect(wrongAfter(sent)).toEqual(wrong);
});
