/** Who may emit the event of a module, and what a flag changes about that. */

import { describe, expect, it } from 'vitest';
import { dialogue } from '../dialogue.ts';

const module = (governance: string) =>
  `(module m G (defcap G () ${governance}) (defcap E () @event true) (defun emit () (emit-event (E))))`;
const OTHER = '(module o G (defcap G () true) (defun go () (emit-event (m.E))))';
const DISABLE = "(env-exec-config ['DisablePactEvents])";

/** A transaction after the one that has installed the module. */
const later = (dialect: 4 | 5, governance: string, ...more: string[]) =>
  dialogue(dialect, '(begin-tx)', module(governance), '(commit-tx)', '(begin-tx)', ...more);

describe('in dialect 4, an event is emitted', () => {
  it('by its own module', () => {
    expect(later(4, 'true').say('(m.emit)')).toBe('true');
    expect(later(4, 'true', '(m.emit)').say('(length (env-events true))')).toBe('1');
  });

  it.each(['(emit-event (m.E))', '(o.go)'])('by nobody else, whose rights are asked about first: %s', (code) => {
    expect(later(4, '(enforce false "not yours")', OTHER).fault(code)).toBe('not yours');
  });

  it('by nobody else, whatever the rights', () => {
    expect(later(4, 'true').fault('(emit-event (m.E))')).toBe('Unable to resolve current calling module');
    expect(later(4, 'true', OTHER).fault('(o.go)')).toBe("emitEvent: event 'm.E' does not match emitting module: o");
  });

  it('by nobody with a flag, which lets only code outside of modules try', () => {
    const { say, fault } = later(4, 'true', OTHER, DISABLE);
    expect([say('(m.emit)'), say('(emit-event (m.E))')]).toEqual(['true', 'true']);
    expect(say('(env-events true)')).toBe('[]');
    expect(fault('(o.go)')).toBe("emitEvent: event 'm.E' does not match emitting module: o");
  });
});

describe('in dialect 5, an event is emitted', () => {
  it.each(['(emit-event (m.E))', '(o.go)'])('by nobody without rights: %s', (code) => {
    const message = 'Module admin necessary for operation but has not been acquired:m';
    expect(later(5, 'true', OTHER).fault(code)).toBe(message);
    expect(later(5, 'true', OTHER, DISABLE).fault(code)).toBe(message);
  });

  it('by its own module, and not with a flag', () => {
    expect(later(5, 'true', '(m.emit)').say('(length (env-events true))')).toBe('1');
    expect(later(5, 'true', DISABLE, '(m.emit)').say('(length (env-events true))')).toBe('0');
  });
});
