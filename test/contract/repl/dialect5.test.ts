/**
 * Rules of dialect 5 alone: bodies of managed capabilities that run at each acquisition, capabilities as values, and
 * flags.
 */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { hashText } from '#pickaxe/contract/values/hash.js';
import { lastOf, newSession } from '../dialogue.ts';
import { hashOf5 } from '../hashes.ts';

/** @returns what the last input prints, or the message of its failure */
const dialogue = (inputs: readonly string[], dialect: Dialect = 5, files = {}) => lastOf(dialect, inputs, files);

const SHOP = `(module shop G (defcap G () true)
  (defcap SPEND (who:string amount:decimal) @managed amount left-over (enforce (> amount 0.0) "nothing to pay"))
  (defun left-over:decimal (managed:decimal asked:decimal)
    (enforce (<= asked managed) "too much") (- managed asked))
  (defcap ONCE () @managed (enforce-guard (keyset-ref-guard "owner")))
  (defcap TOLD (n:integer) @event true)
  (defcap PLAIN () true)
  (defun spend (who amount) (with-capability (SPEND who amount) "spent"))
  (defun once () (with-capability (ONCE) "done"))
  (defun plain () (require-capability (PLAIN)))
  (defun tell (n) (with-capability (TOLD n) true))
  (defun tell-plain () (emit-event (PLAIN))))`;
const OWNER = '(env-data { "owner": ["boss"] })(env-keys ["boss"])(define-keyset "owner" (read-keyset "owner"))';
const SIGNED = '(env-sigs [{ "key": "boss", "caps": [(shop.SPEND "boss" 2.0)] }])';

describe('managed capabilities', () => {
  it.each([
    [[SIGNED, '(shop.spend "boss" 1.5)'], '"spent"'],
    [[SIGNED, '(shop.spend "boss" 1.5)', '(shop.spend "boss" 1.0)'], 'too much'],
    // The body gets the requested amount, before the manager is called.
    [[SIGNED, '(shop.spend "boss" 0.0)'], 'nothing to pay'],
    [[SIGNED, '(shop.spend "other" 1.0)'], 'Managed capability not installed: (shop.SPEND "other" 1.0)'],
    [[SIGNED, '(install-capability (shop.SPEND "boss" 1.0))'], 'Capability already installed: (shop.SPEND "boss" 1.0)'],
    [[SIGNED, '(install-capability (shop.SPEND "other" 1.0))', '(shop.spend "other" 1.0)'], '"spent"'],
    [
      ['(install-capability (shop.PLAIN))'],
      'Install capability error: capability is not managed and cannot be installed: shop.PLAIN',
    ],
    [['(test-capability (shop.ONCE))', '(shop.once)'], 'One-shot managed capability used more than once'],
    // Once code has installed a capability, the signature is not for everything any more.
    [['(install-capability (shop.ONCE))', '(shop.once)'], 'Keyset failure (keys-all): [boss...]'],
    [['(env-sigs [{ "key": "boss", "caps": [(shop.ONCE)] }])', '(shop.once)'], '"done"'],
    [
      ['(env-sigs [{ "key": "boss", "caps": [(shop.ONCE)] }])', '(shop.once)', '(shop.once)'],
      'One-shot managed capability used more than once',
    ],
  ])('%j', (inputs, outcome) => {
    expect(dialogue([OWNER, SHOP, ...inputs])).toBe(outcome);
  });
});

describe('test-capability', () => {
  it.each([
    [['(test-capability (shop.PLAIN))'], '()'],
    [['(test-capability (shop.PLAIN))', '(shop.plain)'], 'true'],
    [['(test-capability (shop.SPEND "a" 1.0))'], '()'],
    [['(test-capability (shop.SPEND "a" 0.0))'], 'nothing to pay'],
    // The manager was not called, so the whole amount is left.
    [['(test-capability (shop.SPEND "a" 1.0))', '(shop.spend "a" 1.0)'], '"spent"'],
    [
      ['(test-capability (shop.TOLD 1))'],
      'Install capability error: capability is not managed and cannot be installed: shop.TOLD',
    ],
  ])('%j', (inputs, outcome) => {
    expect(dialogue([OWNER, SHOP, ...inputs])).toBe(outcome);
  });
});

describe('capabilities as values', () => {
  it.each([
    ['(shop.SPEND "a" 1.0)', 'CapToken(shop.SPEND "a" 1.0)'],
    ['(format "{}" [(shop.PLAIN)])', '"CapToken(shop.PLAIN)"'],
    ['(= (shop.TOLD 1) (shop.TOLD 1))', 'true'],
    ['(= (shop.TOLD 1) (shop.TOLD 2))', 'false'],
    ['(let ((c (shop.PLAIN))) (with-capability c (shop.plain)))', 'true'],
    ['(create-capability-guard (let ((c (shop.TOLD 1))) c))', 'CapabilityGuard {name: shop.TOLD,args: [1],pactId: }'],
    ['(shop.TOLD 1 2)', 'Attempted to apply a closure to too many arguments'],
    ['(shop.TOLD "a")', 'Runtime typecheck failure, argument is string , but expected type integer'],
    [
      '(require-capability true)',
      'Type error: failed to call native function require-capability with argument(s) of type(s): bool',
    ],
  ])('%s', (code, outcome) => {
    expect(dialogue([SHOP, code])).toBe(outcome);
  });

  it('are none in dialect 4', () => {
    expect(dialogue([SHOP, '(shop.TOLD 1)'], 4)).toBe('Cannot directly evaluate defcap');
  });
});

describe('events', () => {
  const hashOf = (module: string) => `(at "hash" (describe-module "${module}"))`;
  const told = '(at "module-hash" (at 0 (env-events true)))';
  const caller = '(module caller G (defcap G () true) (defun go () (shop.tell 1)))';

  it.each([
    ['(emit-event (shop.TOLD 1))', 'Emitted event does not match module: shop'],
    ['(at 0 (map (at "params") (do (with-capability (shop.TOLD 7) true) (env-events true))))', '[7]'],
  ])('%s', (code, outcome) => {
    expect(dialogue([SHOP, code])).toBe(outcome);
  });

  it('name the version of the module that the code has found', () => {
    const newer = SHOP.replace('true)', 'true) (defconst VERSION 2)');
    const setUp = [SHOP, `(defconst OLD ${hashOf('shop')})`, caller, newer, '(caller.go)'];
    expect(dialogue([...setUp, `(= OLD ${told})`])).toBe('true');
    expect(dialogue(['(env-exec-config ["EnableLegacyEventHashes"])', ...setUp, `(= ${hashOf('shop')} ${told})`])).toBe(
      'true',
    );
  });

  it('are only of capabilities that have one', () => {
    expect(dialogue([SHOP, '(shop.tell-plain)'])).toMatch(/^Invalid event capability shop\.PLAIN\.\{[\w-]{43}\}$/);
  });
});

describe('functions of the interpreter', () => {
  it.each([
    ['(map print [1 2])', '[() ()]'],
    ['(let ((sign env-keys)) (sign ["a"]))', '"Setting transaction keys"'],
  ])('are values: %s', (code, outcome) => {
    expect(dialogue([code])).toBe(outcome);
  });
});

describe('what a file defines outside of modules', () => {
  const DEFINED = ['(module m G (defcap G () true) (defun f () 1))', '(defun g (x) (+ x 1))', '(defconst C 7)'];

  it.each([
    [['(begin-tx)', '(g C)'], '8'],
    [['(begin-tx)', '(commit-tx)', '(g C)'], '8'],
    [['(begin-tx)', '(rollback-tx)', '(g C)'], '8'],
    [['(begin-tx)', '(defun h () 9)', '(rollback-tx)', '(begin-tx)', '(h)'], '9'],
    // What `use` and a loaded module bring in stays until the transaction ends.
    [['(begin-tx)', '(f)'], '1'],
    [['(begin-tx)', '(commit-tx)', '(f)'], 'Unbound variable f'],
  ])('%j', (inputs, outcome) => {
    expect(dialogue([...DEFINED, ...inputs])).toBe(outcome);
  });

  it('keeps the gas of transactions that have ended', () => {
    const inputs = ['(env-gasmodel "table")', '(begin-tx)', '(env-gas 5)', '(commit-tx)', '(env-gas)'];
    expect(dialogue(inputs)).toBe('5');
    expect(dialogue(inputs, 4)).toBe('0');
  });
});

describe('a blessed hash', () => {
  const version = (number: number, items: string) =>
    `(module m G (defcap G () true) (defschema s x) (deftable t:{s}) ${items} (defun f () (write t "k" {"x": ${number}})))`;
  const user = '(module n G (defcap G () true) (use m [f]) (defun g () (f)))';
  const bless = `(bless "${hashOf5(version(1, ''))}")`;

  it.each([
    [[version(2, ''), '(n.g)'], `Execution aborted, hash not blessed for module m: ${hashOf5(version(1, ''))}`],
    [[version(2, bless), '(n.g)'], '"Write succeeded"'],
    [[version(2, ''), version(3, bless), '(n.g)'], '"Write succeeded"'],
    [
      [version(2, bless), version(3, ''), '(n.g)'],
      `Execution aborted, hash not blessed for module m: ${hashOf5(version(1, ''))}`,
    ],
    [
      [version(2, '(bless "DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g")'), '(n.g)'],
      `Execution aborted, hash not blessed for module m: ${hashOf5(version(1, ''))}`,
    ],
  ])('lets code use what an earlier version has: %j', (inputs, outcome) => {
    expect(dialogue([version(1, ''), '(create-table m.t)', user, ...inputs])).toBe(outcome);
  });
});

describe('the hash that generation 4 gave a module', () => {
  const version = (number: number, items = '') =>
    `(module m G (defcap G () true) (defschema s x) (deftable t:{s}) ${items} (defun f () (write t "k" {"x": ${number}})))`;
  const old = hashText(version(1));
  const only = 'only nodes that have loaded';
  const where = {
    use: `generation 4's hash of m: ${only} it in generation 4 do`,
    bless: `generation 4's hash of m: ${only} that version in generation 4 do`,
  };
  const using = `(module n G (defcap G () true) (use m "${old}" [f]) (defun g () (f)))`;

  it.each([
    ['use', [version(1), '(create-table m.t)', using, using, '(n.g)']],
    [
      'bless',
      [
        version(1),
        '(create-table m.t)',
        '(module n G (defcap G () true) (use m [f]) (defun g () (f)))',
        version(2, `(bless "${old}")`),
        '(n.g)',
        '(n.g)',
      ],
    ],
  ] as const)('is taken by %s, with one note', (form, inputs) => {
    const files = { 'a.repl': inputs.join('') };
    const { error, notes } = newSession(5, files).runFile('a.repl');
    expect(error).toBeUndefined();
    expect(notes).toEqual([`${form} has taken ${old}, ${where[form]}`]);
  });

  it('is not taken for that of another version, or of another module', () => {
    const other = `Import error for module m, hash not blessed: ${hashOf5(version(2))}`;
    expect(dialogue([version(2), using])).toBe(other);
    expect(dialogue([version(2), `(use m "${hashText('(module m2 G)')}")`])).toBe(other);
  });

  it('needs no note where it is the hash', () => {
    const files = { 'a.repl': `${version(1)}(use m "${old}")` };
    expect(newSession(4, files).runFile('a.repl')).toMatchObject({ error: undefined, notes: [] });
  });
});

describe('a constant', () => {
  it.each(['f', '(lambda (x) x)', '[f]', 't'])('cannot be what no table keeps: %s', (code) => {
    const module = `(module c G (defcap G () true) (defschema s x) (deftable t:{s}) (defun f () 1) (defconst C ${code}))`;
    expect(dialogue([module])).toBe('Evaluation did not reduce to a value');
  });
});

describe('flags', () => {
  const untyped = '(module u G (defcap G () true) (defun f:string () 1))';

  it.each([
    [['(env-exec-config ["DisablePact44" "RequireKeysetNs" "Other"])'], '["RequireKeysetNs" "DisablePact44"]'],
    [['(env-exec-config ["DisableRuntimeRTC"])', untyped, '(u.f)'], '1'],
    [[untyped, '(u.f)'], 'Runtime typecheck failure, argument is integer , but expected type string'],
  ])('%j', (inputs, outcome) => {
    expect(dialogue(inputs)).toBe(outcome);
  });

  it('DisablePact53 keeps conditions and guards from reading tables', () => {
    const tables = `(module t G (defcap G () true) (defschema s n:integer) (deftable rows:{s})
      (defun get () (at "n" (read rows "a"))) (defun guarded () (enforce-guard (create-user-guard (get))))
      (defun checked () (enforce (= 1 (get)) "not 1")))
      (create-table t.rows) (insert t.rows "a" { "n": 1 })`;
    const refused = 'Error during database operation: Operation disallowed in read-only or sys-only mode';
    const disabled = '(env-exec-config ["DisablePact53"])';
    expect(dialogue([tables, '(t.guarded)'])).toBe('true');
    expect(dialogue([tables, '(t.checked)'])).toBe('true');
    expect(dialogue([tables, disabled, '(t.guarded)'])).toBe(refused);
    expect(dialogue([tables, disabled, '(t.checked)'])).toBe(refused);
  });
});

describe('signatures for guards of the language', () => {
  /** Like the language's own suites, this one defines the module `pact` of the language's capabilities itself. */
  const language = `(module pact G (defcap G () true) (defcap DEFINE_KEYSET (name:string) true)
    (defcap MODULE_KEYSET (name:string) true) (defcap NAMESPACE (name:string) true)
    (defcap DEFINE_NAMESPACE (name:string) true))`;
  const sign = (capability: string) => `(env-sigs [{ "key": "boss", "caps": [${capability}] }])`;
  const space = '(define-namespace "ns" (read-keyset "owner") (read-keyset "owner"))';
  const module = (governance: string) =>
    `(module m ${governance} (defcap G () (enforce-keyset "owner")) (defconst X 1))`;
  const refused = 'Keyset failure (keys-all): [boss...]';

  it.each([
    [[sign('(pact.DEFINE_KEYSET "owner")')], '(define-keyset "owner")', '"Keyset write success"'],
    [[sign('(pact.DEFINE_KEYSET "other")')], '(define-keyset "owner")', refused],
    [[space, sign('(pact.DEFINE_NAMESPACE "ns")')], space, '"Namespace defined: ns"'],
    [[space, sign('(pact.NAMESPACE "ns")')], space, refused],
    [[space, '(namespace "ns")', sign('(pact.NAMESPACE "ns")')], module('G'), /^Loaded module ns\.m, /],
    [[space, '(namespace "ns")', sign('(pact.NAMESPACE "other")')], module('G'), refused],
    [[sign('(pact.MODULE_KEYSET "m")')], module('"owner"'), /^Loaded module m, /],
    [[sign('(pact.MODULE_KEYSET "n")')], module('"owner"'), refused],
    [[module('"owner"'), sign('(pact.MODULE_KEYSET "m")')], module('G'), /^Loaded module m, /],
    // Signing for the governing capability itself also counts.
    [['(begin-tx)', module('G'), '(commit-tx)', sign('(m.G)')], module('G'), /^Loaded module m, /],
    [['(begin-tx)', module('G'), '(commit-tx)', sign('(pact.G)')], module('G'), refused],
    [['(env-exec-config ["DisablePact52"])', sign('(pact.DEFINE_KEYSET "owner")')], '(define-keyset "owner")', refused],
  ])('%j %s', (inputs, last, outcome) => {
    const result = dialogue([OWNER, language, ...inputs, last]);
    if (typeof outcome === 'string') expect(result).toBe(outcome);
    else expect(result?.replaceAll('"', '')).toMatch(outcome);
  });
});

describe('functions applied to nothing', () => {
  const policy = '(module p G (defcap G () true) (defun allows (ns guard) (= ns "good")))';
  const define = (name: string) => `(define-namespace "${name}" (sig-keyset) (sig-keyset))`;

  it('are themselves', () => {
    expect(dialogue([policy, '(map (p.allows "a") [1])'])).toBe('[false]');
    expect(dialogue([policy, '(fold (p.allows) true ["a"])'])).toBe('false');
    expect(dialogue([policy, '((lambda (x) x))'])).toContain('lambda');
  });

  it('may be a policy of namespaces', () => {
    expect(dialogue([policy, '(env-namespace-policy true (p.allows))', define('good')])).toBe(
      '"Namespace defined: good"',
    );
    expect(dialogue([policy, '(env-namespace-policy true p.allows)', define('bad')])).toBe(
      'native execution failure, define-namespace failed with message: Namespace definition not permitted',
    );
  });
});

describe('names of natives', () => {
  const module = (item: string) => `(module m G (defcap G () true) ${item})`;

  it.each([
    ['(let ((map 1)) 2)', 'map'],
    ['((lambda (x fold) x) 1 2)', 'fold'],
    ['(defun take (x) x)', 'take'],
    ['(defun f (drop) 1)', 'drop'],
    ['(defun f (x) (let ((at x)) at))', 'at'],
    ['(defconst format 1)', 'format'],
    [module('(defun hash () 1)'), 'hash'],
    [module('(defschema sort x:integer)'), 'sort'],
    [module('(defun f (reverse) 1)'), 'reverse'],
    [module('(defcap C (length) 1)'), 'length'],
    [module('(defun f () (map (lambda (keys) 1) []))'), 'keys'],
    ['(module yield G (defcap G () true))', 'yield'],
    ['(interface bind (defun f (x)))', 'bind'],
  ])('%s', (code, name) => {
    expect(dialogue([code])).toBe(`Variable ${name} shadows native with the same name`);
  });

  it.each([
    [module('(defschema s time:time) (defun f () (bind { "a": 1 } { "a" := map } 1))'), 5],
    ['(let ((map 1)) 2)', 4],
    [module('(defun f (reverse) 1)'), 4],
  ] as const)('%s may have one in dialect %i', (code, dialect) => {
    expect(dialogue([code], dialect)).not.toContain('native');
  });
});

describe('functions that lack arguments', () => {
  const add = '(defun add (x y z) (+ x (+ y z)))';

  it.each([
    ['(let ((f (+ 1))) (map f [1 2]))', '[2 3]'],
    ['(let ((f (add 1 2))) (map f [1 2]))', '[4 5]'],
    ['(let ((f ((lambda (x y) (- x y)) 1))) (map f [1 2]))', '[0 -1]'],
    ['(let ((f (+ 1))) (f 1))', 'Attempted to apply a closure outside of native callsite'],
    ['(let ((f (+ 1))) (typeof f))', '"<<closure>>"'],
    [
      '(let ((f (+ 1))) (+ f 1))',
      'Type error: failed to call native function + with argument(s) of type(s): closure, integer',
    ],
  ])('%s', (code, outcome) => {
    expect(dialogue([add, code])).toBe(outcome);
  });
});

describe('natives and functions of the interpreter', () => {
  const module =
    '(env-enable-repl-natives true)(module e G (defcap G () (error "for ever")) (defschema s x:integer) (deftable t:{s}) (defun calls () (env-stackframe)))';

  it.each([
    [['(error "wrong")'], 'wrong'],
    [['(try 1 (error "wrong"))'], '1'],
    [['(error 1)'], 'expected string value, got: 1'],
    [['(begin-tx)', module, '(commit-tx)', '(acquire-module-admin e)'], 'for ever'],
    [['(begin-tx)', module, '(commit-tx)', '(env-module-admin e)'], '"Acquired module admin for: e"'],
    [['(begin-tx)', module, '(commit-tx)', '(env-module-admin e)', '(create-table e.t)'], '"TableCreated"'],
    [
      ['(env-module-admin 1)'],
      'Type error: failed to call native function env-module-admin with argument(s) of type(s): integer',
    ],
    [['(env-stackframe)'], '[]'],
    [[module, '(e.calls)'], '["e.calls"]'],
    [['(do (env-data { "n": 1 }) (read-integer "n"))'], '1'],
    [['(print 1)'], '()'],
    [[module, '(typecheck "e")'], '()'],
  ])('%j', (inputs, outcome) => {
    expect(dialogue(inputs)).toBe(outcome);
  });

  it.each(['env-module-admin', 'env-stackframe', 'error'])('%s is unknown to dialect 4', (name) => {
    expect(dialogue([`(${name})`], 4)).toBe(`Cannot resolve ${name}`);
  });
});

describe('files of contracts', () => {
  const files = { 'm.pact': '(module m G (defcap G () true) (defconst X 1))', 'x.pact': '(identity X)' };

  it.each<Dialect>([4, 5])('begin without the names that are known, in dialect %i', (dialect) => {
    const unknown = dialect === 4 ? 'Cannot resolve X' : 'Unbound variable X';
    expect(dialogue(['(load "m.pact")', 'X'], dialect, files)).toBe('1');
    expect(dialogue(['(load "m.pact")', '(load "x.pact")'], dialect, files)).toBe(unknown);
  });

  it.each<Dialect>([4, 5])('are loaded into a new environment if that is wanted, in dialect %i', (dialect) => {
    const after = (load: string) => dialogue(['(env-data {"a": 1})', load, '(read-msg)'], dialect, files);
    expect(after('(load "m.pact")')).toBe('{"a": 1}');
    expect(after('(load "m.pact" false)')).toBe('{"a": 1}');
    expect(after('(load "m.pact" true)')).toBe('{}');
  });
});

describe('types', () => {
  it.each([
    ['(typeof (shop.TOLD 1))', '"CAPTOKEN"'],
    ['(typeof shop)', '"module{}"'],
    ['(typeof shop.tell)', '"<<closure>>"'],
    ['(+ 1 shop)', 'Type error: failed to call native function + with argument(s) of type(s): integer, modref'],
    ['(+ 1 shop.tell)', 'Type error: failed to call native function + with argument(s) of type(s): integer, closure'],
  ])('%s', (code, outcome) => {
    expect(dialogue([SHOP, code])).toBe(outcome);
  });
});

describe('a lambda', () => {
  const LENDER = `(begin-tx)
    (module m G (defcap G () (enforce false "nobody")) (defcap C () true)
      (defun run (f) (f 1)) (defun held () (require-capability (C)) "held"))
    (module a G (defcap G () (enforce false "nobody")) (defun go () (m.run (lambda (x) (with-capability (m.C) (m.held))))))
    (commit-tx) (begin-tx)`;

  it.each([
    ['(with-capability (m.C) (m.held))', 'Module admin necessary for operation but has not been acquired:m'],
    ['(m.run (lambda (x) (with-capability (m.C) (m.held))))', '"held"'],
    ['(a.go)', '"held"'],
    // Code outside of modules calls this function, so it has no rights of `m`.
    [
      '((lambda (x) (with-capability (m.C) (m.held))) 1)',
      'Module admin necessary for operation but has not been acquired:m',
    ],
  ])('has the rights of the module that calls it: %s', (code, outcome) => {
    expect(dialogue([LENDER, code])).toBe(outcome);
  });
});
