/** The states that a source on a node can be in, and tables of what is seen in them. */

import { expect } from 'vitest';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { type Look, Stage } from './node-stage.ts';

export const BUSY = { status: 503 };
export const NEW_CUT = 'event:New Cut\n\n';

export type Prepare = (stage: Stage) => Promise<void>;

/** Work A has been mined for a second, and the stream of its chain is open and trusted. */
export const mined: Prepare = async (stage) => {
  await stage.pass(0);
  await stage.give('before');
  stage.open(3);
  await stage.pass(0);
  // What comes between a fetch and the opening of the stream is not announced.
  await stage.give('before');
  // Without a New Cut now and then, a stream is silent, and the source asks more often.
  await stage.pass(1_000);
  stage.send(3, NEW_CUT);
  await stage.pass(0);
  await stage.give('A');
  await stage.pass(1_000);
};

/** Work A is mined, and the node has no stream for its chain. */
export const minedWithoutStream: Prepare = async (stage) => {
  await stage.pass(0);
  await stage.give('A');
  stage.answer('stream 3', BUSY);
  await stage.pass(0);
};

/** Work B has come without a New Cut: the stream is not trusted any more, and the source asks every 2 s. */
export const missedBlock: Prepare = async (stage) => {
  await mined(stage);
  await stage.until('work');
  await stage.give('A later');
  await stage.until('work');
  await stage.give('B');
  await stage.until('stream 3');
  stage.open(3);
  await stage.pass(0);
  await stage.give('B');
};

/** Fails the request for work in progress, and waits for the next one. */
export const failed = async (stage: Stage, answer: { status: number } | Error = BUSY) => {
  stage.answer('work', answer);
  await stage.until('work');
};

/** Work A is too old to be mined, after requests that failed. */
export const expired: Prepare = async (stage) => {
  await mined(stage);
  await stage.until('work');
  while (!stage.seen.some(({ what }) => what === 'A ended: expired')) await failed(stage);
};

/** @returns the same states, but after the end of the source */
export function ended(states: Record<string, Prepare>): Record<string, Prepare> {
  const end = async (prepare: Prepare, stage: Stage) => {
    await prepare(stage);
    stage.stop();
    await stage.pass(0);
  };
  return Object.fromEntries(Object.entries(states).map(([name, prepare]) => [name, (stage) => end(prepare, stage)]));
}

/** For each event: what is seen, and in which states (with commas between them). */
export type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * @param happens what happens in a row of a table
 * @param states how each state comes about
 * @returns for each state: what is seen
 */
export async function rowOf(
  dialect: Dialect,
  states: Record<string, Prepare>,
  happens: (stage: Stage) => void | Promise<void>,
  look: Look = {},
): Promise<Record<string, string>> {
  const cells: Record<string, string> = {};
  for (const [state, prepare] of Object.entries(states)) {
    const stage = new Stage(dialect);
    try {
      await prepare(stage);
      cells[state] = await stage.after(() => happens(stage), look);
    } finally {
      await stage.end();
    }
  }
  return cells;
}

/** @returns for each state: what the row of a table says */
export function cellsOf(row: Table[string], states: object): Record<string, string> {
  const cells = Object.entries(row).flatMap(([seen, of]) => of.split(', ').map((state) => [state, seen] as const));
  expect(cells.map(([state]) => state).sort(), 'a row has each state once').toEqual(Object.keys(states).sort());
  return Object.fromEntries(cells);
}
