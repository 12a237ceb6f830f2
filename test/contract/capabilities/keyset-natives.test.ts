import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { dialogue } from '../dialogue.ts';

const KEYS = '(env-data { "k": ["bob"], "j": ["eve"], "two": { "keys": ["bob" "eve"], "pred": "keys-any" } })';
const BOB = '(env-keys ["bob"])';
const NAMESPACE = "(define-namespace 'n (read-keyset 'k) (read-keyset 'k)) (namespace 'n)";

describe('a keyset with a name', () => {
  it('belongs to a namespace, whose user guard must agree', () => {
    const { say, fault } = dialogue(4, KEYS, BOB, NAMESPACE, '(env-keys [])');
    const define = '(define-keyset "n.k" (read-keyset "k"))';
    expect(fault(define)).toBe('Keyset failure (keys-all): [bob]');
    say(BOB);
    expect(fault('(define-keyset "m.k" (read-keyset "k"))')).toBe('Mismatching keyset namespace');
    expect(fault('(define-keyset "n.k.l" (read-keyset "k"))')).toBe('Mismatching keyset namespace');
    expect(say(define)).toBe('"Keyset defined"');
  });

  it('must agree to its change itself, wherever that happens', () => {
    const { say, fault } = dialogue(4, KEYS, BOB, NAMESPACE, '(define-keyset "n.k" (read-keyset "k"))');
    say('(namespace "") (env-keys ["eve"])');
    const change = '(define-keyset "n.k" (read-keyset "j"))';
    expect(fault(change)).toBe("Keyset failure (keys-all): 'n.k");
    say(BOB);
    expect(say(change)).toBe('"Keyset defined"');
    expect(fault('(enforce-keyset "n.k")')).toBe("Keyset failure (keys-all): 'n.k");
    expect(say('(describe-keyset "n.k")')).toBe('KeySet {keys: [eve],pred: keys-all}');
  });

  it('had any name before version 4.4', () => {
    const { say } = dialogue(4, KEYS, "(env-exec-config ['DisablePact44])");
    expect(say("(define-keyset 'k)")).toBe('"Keyset defined"');
    expect(say('(define-keyset "" (read-keyset "j"))')).toBe('"Keyset defined"');
    expect(say('(describe-keyset "")')).toBe('KeySet {keys: [eve],pred: keys-all}');
  });

  it('may have any name in dialect 5, unless a flag asks for a namespace', () => {
    const { say, fault } = dialogue(5, KEYS, BOB, NAMESPACE, '(namespace "")');
    expect(say('(define-keyset "k")')).toBe('"Keyset write success"');
    say("(env-exec-config ['RequireKeysetNs])");
    expect(fault('(define-keyset "j")')).toBe('Cannot define keyset outside of a namespace');
    say("(namespace 'n)");
    expect(fault('(define-keyset "j")')).toBe('Error defining keyset, namespace mismatch, expected n');
    expect(say('(define-keyset "n.j" (read-keyset "j"))')).toBe('"Keyset write success"');
    expect(fault('(define-keyset "none")')).toBe('define-keyset failure');
    expect(fault('(define-keyset "n.j" (read-keyset "j"))')).toBe('Keyset failure (keys-all): [eve...]');
  });

  it.each<[string, string, string]>([
    ['(enforce-keyset "none")', "No such keyset: 'none", "Cannot find keyset in database: 'none"],
    ['(describe-keyset "none")', 'Keyset not found: none', "Cannot find keyset in database: 'none"],
    ['(keyset-ref-guard "none")', 'Keyset reference cannot be found: none', "Cannot find keyset in database: 'none"],
    ['(enforce-guard "")', 'incorrect keyset name format', 'Invalid keyset name format: '],
    ['(describe-keyset "")', 'incorrect keyset name format', 'Invalid keyset name format: '],
    ['(keyset-ref-guard "")', 'incorrect keyset name format', 'Invalid keyset name format: '],
    ['(define-keyset "" (sig-keyset))', 'incorrect keyset name format', 'Invalid keyset name format: '],
  ])('that there is none of: %s', (code, in4, in5) => {
    expect(dialogue(4).fault(code)).toBe(in4);
    expect(dialogue(5).fault(code)).toBe(in5);
  });

  it('cannot be defined or shown by modules', () => {
    const module = '(module m G (defcap G () true) (defun f () (define-keyset "k" (sig-keyset))))';
    expect(dialogue(4, module).fault('(f)')).toBe('Top-level call used in module m: define-keyset');
    expect(dialogue(5, '(env-enable-repl-natives true)', module).fault('(f)')).toBe(
      'Top-level call used in module define-keyset',
    );
  });
});

describe('keysets', () => {
  it.each([
    ['(keys-all 3 3)', 'true'],
    ['(keys-all 3 4)', 'false'],
    ['(keys-any 3 0)', 'false'],
    ['(keys-2 1 2)', 'true'],
  ])('have predicates that are natives: %s', (code, printed) => {
    expect(dialogue().say(code)).toBe(printed);
  });

  it('may have a function of a module as their predicate', () => {
    const module = '(module m G (defcap G () true) (defun most (n m) (> (* 2 m) n)) (defun bad (n m) 1))';
    const data =
      '(env-data { "k": { "keys": ["a" "b" "c"], "pred": "m.most" }, "bad": { "keys": [], "pred": "bad" } })';
    const { say, fault } = dialogue(4, module, data, '(env-keys ["a"])');
    expect(fault('(enforce-guard (read-keyset "k"))')).toBe('Keyset failure (m.most): [a, b, c]');
    expect(fault('(enforce-guard (read-keyset "bad"))')).toBe('Invalid response from keyset predicate: 1');
    say('(env-keys ["a" "b"])');
    expect(say('(enforce-guard (read-keyset "k"))')).toBe('true');
  });

  it('show characters, not code units, of their keys', () => {
    const { fault } = dialogue(4, '(env-data { "k": ["😀😀😀😀😀😀😀😀😀" "😀😀😀😀😀😀😀"] })');
    expect(fault('(enforce-guard (read-keyset "k"))')).toBe(
      'Keyset failure (keys-all): [😀😀😀😀😀😀😀, 😀😀😀😀😀😀😀😀...]',
    );
  });

  it('count a key that has signed twice once', () => {
    const sigs = '(env-sigs [{ "key": "a", "caps": [] }, { "key": "a", "caps": [] }])';
    const { fault } = dialogue(4, '(env-data { "k": { "keys": ["a" "b"], "pred": "keys-2" } })', sigs);
    expect(fault('(enforce-guard (read-keyset "k"))')).toBe('Keyset failure (keys-2): [a, b]');
  });
});

describe('a key that signs for acts of the language, in dialect 5', () => {
  const LANGUAGE = `(module pact G
    (defcap G () true)
    (defcap DEFINE_KEYSET (name:string) true)
    (defcap DEFINE_NAMESPACE (name:string) true)
    (defcap MODULE_KEYSET (name:string) true)
    (defcap NAMESPACE (name:string) true))`;
  const signed = (capability: string) => `(env-sigs [{ "key": "bob", "caps": [(pact.${capability})] }])`;
  const flag = "(env-exec-config ['RequireKeysetNs])";

  it.each<[string, string, string]>([
    ['NAMESPACE "n"', 'NAMESPACE "m"', '(define-keyset "n.j" (read-keyset "k"))'],
    ['NAMESPACE "n"', 'MODULE_KEYSET "n"', '(interface i (defconst A 1))'],
    ['DEFINE_KEYSET "n.k"', 'DEFINE_KEYSET "n.j"', '(define-keyset "n.k" (read-keyset "j"))'],
    ['DEFINE_NAMESPACE "n"', 'NAMESPACE "n"', "(define-namespace 'n (read-keyset 'j) (read-keyset 'j))"],
    ['MODULE_KEYSET "n.m"', 'MODULE_KEYSET "m"', '(module m G (defcap G () true))'],
  ])('signs with %s, not with %s, for %s', (capability, other, code) => {
    const module = '(define-keyset "n.k") (module m "n.k" (defun f () 1))';
    const data = '(env-data { "n.k": ["bob"], "k": ["bob"], "j": ["eve"] })';
    const { say, fault } = dialogue(5, LANGUAGE, flag, data, BOB, '(begin-tx)', NAMESPACE, module, '(commit-tx)');
    say("(begin-tx) (namespace 'n)");
    say(signed(other));
    expect(fault(code)).toBe('Keyset failure (keys-all): [bob...]');
    say(signed(capability));
    say(code);
  });

  it('signs for nothing else', () => {
    const { fault } = dialogue(5, LANGUAGE, KEYS, signed('NAMESPACE "n"'));
    expect(fault('(enforce-guard (read-keyset "k"))')).toBe('Keyset failure (keys-all): [bob...]');
  });
});

describe('install-capability', () => {
  const MODULE = `(module m G
    (defcap G () true)
    (defcap PAY (to:string amount:integer) @managed amount spend true)
    (defcap ONCE () @managed true)
    (defun spend (left:integer wanted:integer) (- left wanted)))`;
  const signed = '(env-sigs [{ "key": "bob", "caps": [(PAY "eve" 1)] }])';

  it('may repeat what is signed for or installed in dialect 4', () => {
    const { say } = dialogue(4, MODULE, signed);
    for (const capability of ['PAY "eve" 2', 'PAY "joe" 1', 'PAY "joe" 2', 'ONCE', 'ONCE', 'G']) {
      expect(say(`(install-capability (${capability}))`)).toBe('"Installed capability"');
    }
  });

  it('must not in dialect 5', () => {
    const { say, fault } = dialogue(5, MODULE, signed);
    expect(fault('(install-capability (PAY "eve" 2))')).toBe('Capability already installed: (m.PAY "eve" 2)');
    expect(say('(install-capability (PAY "joe" 1))')).toBe('"Installed capability"');
    expect(fault('(install-capability (PAY "joe" 2))')).toBe('Capability already installed: (m.PAY "joe" 2)');
    expect(say('(install-capability (ONCE))')).toBe('"Installed capability"');
    expect(fault('(install-capability (ONCE))')).toBe('Capability already installed: (m.ONCE)');
    expect(fault('(install-capability (G))')).toBe(
      'Install capability error: capability is not managed and cannot be installed: m.G',
    );
  });
});

describe('the governance of a module', () => {
  const MODULE = `(module m G
    (defcap G () (enforce-guard (read-keyset "k")))
    (defun f () 1))`;

  it.each<[Dialect, boolean]>([
    [4, false],
    [5, true],
  ])('can be signed for in dialect %i: %s', (dialect, can) => {
    const transaction = [KEYS, '(begin-tx)', MODULE, '(commit-tx)', '(begin-tx)'];
    const { say, fault } = dialogue(dialect, ...transaction, '(env-sigs [{ "key": "bob", "caps": [(m.G)] }])');
    if (can) expect(say(MODULE)).toMatch(/^"Loaded module m, hash /);
    else expect(fault(MODULE)).toBe('Keyset failure (keys-all): [bob]');
  });

  it('by a keyset gives the rights of the module to whoever loads it in dialect 5', () => {
    const module = '(module m "k" (defschema s v:integer) (deftable t:{s}))';
    const { say, fault } = dialogue(5, KEYS, '(env-exec-config [])', BOB, '(define-keyset "k")', '(begin-tx)', module);
    say('(env-keys [])');
    expect(say('(create-table t)')).toBe('"TableCreated"');
    say('(commit-tx) (begin-tx)');
    expect(fault('(keys m.t)')).toBe('Module admin necessary for operation but has not been acquired:m');
  });
});

describe('guards', () => {
  const MODULE = `(module m G
    (defcap G () (enforce false "no admin"))
    (defcap C (n:integer) true)
    (defconst A 1)
    (defun agree () true)
    (defun again (guard:guard) (enforce-guard guard))
    (defun user () (create-user-guard (agree)))
    (defun of-capability () (create-user-guard (C 1)))
    (defun module-guard () (create-module-guard "x"))
    (defun held (n:integer) (with-capability (C 1) (enforce-guard (create-capability-guard (C n)))))
  )`;

  it('of functions and capabilities', () => {
    const { say, fault } = dialogue(4, '(begin-tx)', MODULE, '(commit-tx)', '(use m)');
    expect(say('(user)')).toBe('UserGuard {fun: m.agree,args: []}');
    expect(say('(enforce-guard (user))')).toBe('true');
    expect(fault('(of-capability)')).toBe('User guard closure must be defun, found: defcap');
    expect(fault('(create-user-guard (+ 1 2))')).toBe('User guard closure function must be def: (+ 1 2)');
    expect(fault('(create-user-guard)')).toBe('Invalid arguments, received [] for closure: -> bool -> guard');
    expect(fault('(again (create-user-guard (again (user))))')).toBe('evalByName: loop detected: m.again');
    expect(say('(held 1)')).toBe('true');
    expect(fault('(held 2)')).toBe('Capability not acquired');
    expect(fault('(create-capability-guard (agree))')).toBe('Can only apply defcap here, found: defun');
    expect(fault('(create-capability-pact-guard (C 1))')).toBe('pact-id: not in pact execution');
    expect(fault('(create-pact-guard "x")')).toBe('pact-id: not in pact execution');
  });

  it.each([
    ['(create-capability-guard (C))', 'C: Incorrect number of arguments (0) supplied; expected 1'],
    ['(create-capability-guard (C "x"))', 'Type error: expected integer, found string'],
    ['(require-capability (C 1 2))', 'C: Incorrect number of arguments (2) supplied; expected 1'],
    ['(test-capability (C true))', 'Type error: expected integer, found bool'],
    ['(env-sigs [{ "key": "bob", "caps": [(C 1 2)] }])', 'C: Incorrect number of arguments (2) supplied; expected 1'],
  ])('and capabilities have the arguments that the capability takes: %s', (code, message) => {
    expect(dialogue(4, MODULE).fault(code)).toBe(message);
  });

  it('of modules ask who governs them, unless their code runs', () => {
    const { say, fault } = dialogue(4, '(begin-tx)', MODULE, '(commit-tx)');
    expect(say('(m.module-guard)')).toBe('ModuleGuard {module: m,name: x}');
    expect(fault('(enforce-guard (m.module-guard))')).toBe('no admin');
    expect(fault('(create-module-guard "x")')).toBe('create-module-guard: must call within module');
  });

  it('have the messages of dialect 5', () => {
    const { fault } = dialogue(5, '(begin-tx)', MODULE, '(commit-tx)', '(use m)');
    expect(fault('(held 2)')).toBe('Capability not acquired: CapabilityGuard {name: m.C,args: [2],pactId: }');
    const within = 'native execution failure, create-module-guard failed with message: create-module-guard';
    expect(fault('(create-module-guard "x")')).toBe(`${within}: must call within module`);
    const expected = 'create-user-guard: expected function application of a top-level function';
    expect(fault('(create-user-guard (+ 1 2))')).toBe(
      `native execution failure, create-user-guard failed with message: ${expected}`,
    );
    expect(fault('(create-pact-guard "x")')).toBe(
      'Attempted to fetch defpact data, but currently not within defpact execution',
    );
  });
});

describe('principals', () => {
  const key = '0f'.repeat(32);

  it.each([
    [`(is-principal "k:${key}")`, 'true'],
    ['(is-principal "bob")', 'false'],
    [`(typeof-principal "k:${key}")`, '"k:"'],
    ['(typeof-principal "bob")', '""'],
    ['(create-principal (read-keyset "one"))', `"k:${key}"`],
    [`(validate-principal (read-keyset "one") "k:${key}")`, 'true'],
    ['(validate-principal (read-keyset "one") "bob")', 'false'],
  ])('%s', (code, printed) => {
    expect(dialogue(4, `(env-data { "one": ["${key}"] })`).say(code)).toBe(printed);
  });

  it.each([
    ['(create-principal "k")', '"k"', 'guard:guard -> string'],
    ['(validate-principal "k" 1)', '"k" 1', 'guard:guard principal:string -> bool'],
    ['(is-principal 1)', '1', 'principal:string -> bool'],
    ['(typeof-principal 1)', '1', 'principal:string -> string'],
    ['(enforce-guard 1)', '1', '[guard:guard -> bool, keysetname:string -> bool]'],
    ['(enforce-keyset)', '', '[guard:guard -> bool, keysetname:string -> bool]'],
    ['(keys-any 1)', '1', 'count:integer matched:integer -> bool'],
    ['(define-keyset 1)', '1', '[name:string keyset:keyset -> string, name:string -> string]'],
    ['(keyset-ref-guard 1)', '1', 'keyset-ref:string -> guard'],
    ['(create-capability-guard)', '', 'capability: -> bool -> guard'],
  ])('and guards do not take %s', (code, received, signatures) => {
    expect(dialogue().fault(code)).toBe(`Invalid arguments, received [${received}] for ${signatures}`);
  });
});
