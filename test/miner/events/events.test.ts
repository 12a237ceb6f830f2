import { describe, expect, it } from 'vitest';
import { Events, isBlockEvent, type MinerEvent } from '#pickaxe/miner/events/events.js';

const cut = (chain: number): MinerEvent => ({ type: 'new-cut', chain });

describe('events', () => {
  it('reach all listeners in the order in which they came, until they leave', () => {
    const events = new Events();
    const recorded: string[] = [];
    const record = (name: string) => (event: MinerEvent) =>
      recorded.push(`${name}: ${(event as { chain: number }).chain}`);
    events.emit(cut(0));
    const leave = events.on(record('first'));
    events.on(record('second'));
    events.emit(cut(1));
    leave();
    leave();
    events.emit(cut(2));
    events.on(record('third'));
    const { emit } = events;
    emit(cut(3));
    expect(recorded).toEqual(['first: 1', 'second: 1', 'second: 2', 'second: 3', 'third: 3']);
  });

  it('reach a listener once, even if it was added twice', () => {
    const events = new Events();
    const recorded: MinerEvent[] = [];
    const listener = (event: MinerEvent) => recorded.push(event);
    events.on(listener);
    const leave = events.on(listener);
    events.emit(cut(1));
    expect(recorded).toEqual([cut(1)]);
    leave();
    events.emit(cut(2));
    expect(recorded).toEqual([cut(1)]);
  });
});

it.each([
  ['sent-block', true],
  ['accepted-block', true],
  ['unanswered-block', true],
  ['refused-block', true],
  ['solution', false],
  ['verdict', false],
  ['block-state', false],
  ['block-reward', false],
] as const)('an event “%s” is about a block that was sent: %s', (type, expected) => {
  expect(isBlockEvent({ type } as MinerEvent)).toBe(expected);
});
