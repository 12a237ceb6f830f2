import { describe, expect, it } from 'vitest';
import { dialogue, newSession } from '../dialogue.ts';

const KEYS = '(env-data { "k": ["bob"], "j": ["eve"] })';
const BOB = '(env-keys ["bob"])';
const DEFINE = "(define-namespace 'n (read-keyset 'k) (read-keyset 'j))";

describe('namespaces', () => {
  it.each(['1a', '', 'a b', 'a.b.c.d'])('cannot be called "%s"', (name) => {
    const code = `(define-namespace "${name}" (sig-keyset) (sig-keyset))`;
    expect(dialogue(4).fault(code)).toBe(`invalid namespace name format: ${name}`);
    expect(dialogue(5).fault(code)).toBe(
      'native execution failure, define-namespace failed with message: invalid namespace format',
    );
  });

  it('cannot have a point in their names in dialect 5', () => {
    const code = '(define-namespace "a.b" (sig-keyset) (sig-keyset))';
    expect(dialogue(4).say(code)).toBe('"Namespace defined: a.b"');
    expect(() => dialogue(5).say(code)).toThrow('invalid namespace format');
  });

  it('can be changed by whom their old admin guard knows', () => {
    const { say, fault } = dialogue(4, KEYS, BOB, DEFINE);
    expect(fault(DEFINE)).toBe('Keyset failure (keys-all): [eve]');
    say('(env-keys ["eve"])');
    expect(say(DEFINE)).toBe('"Namespace defined: n"');
  });

  it('ask the user guard when something is put into them, and did when they were entered before version 4.4', () => {
    const { say, fault } = dialogue(4, KEYS, DEFINE);
    expect(say("(namespace 'n)")).toBe('"Namespace set to n"');
    expect(fault('(interface i (defun f ()))')).toBe('Keyset failure (keys-all): [bob]');
    say("(env-exec-config ['DisablePact44])");
    expect(say('(interface i (defun f ()))')).toBe('"Loaded interface n.i"');
    expect(fault("(namespace 'n)")).toBe('Keyset failure (keys-all): [bob]');
  });

  it('are described by a schema that all code of dialect 4 knows', () => {
    const { say, fault } = dialogue(4, KEYS, DEFINE);
    expect(say("(let ((n:object{described-namespace} (describe-namespace 'n))) (at 'namespace-name n))")).toBe('"n"');
    expect(fault('(let ((n:object{described-namespace} {})) n)')).toMatch(
      /^Missing fields for \{described-namespace\}/,
    );
  });

  it('could not be left before version 4.8', () => {
    const { say, fault } = dialogue(4, KEYS, DEFINE, "(namespace 'n)");
    expect(say('(namespace "")')).toBe('"Namespace reset to root"');
    say("(env-exec-config ['DisablePact47])");
    expect(fault('(namespace "")')).toBe("namespace: '' not defined");
  });

  it.each<[string, string, string]>([
    ["(namespace 'none)", "namespace: 'none' not defined", 'Namespace not found: none'],
    ["(describe-namespace 'none)", 'Namespace not defined: none', 'Namespace not found: none'],
  ])('that there are none of: %s', (code, in4, in5) => {
    expect(dialogue(4).fault(code)).toBe(in4);
    expect(dialogue(5).fault(code)).toBe(in5);
  });

  const policy = (body: string) => `(module p G (defcap G () true) (defun policy (ns:string admin:guard) ${body}))`;

  it.each([
    ["(= ns 'n)", undefined, undefined],
    [
      'false',
      'Namespace definition not permitted',
      'native execution failure, define-namespace failed with message: Namespace definition not permitted',
    ],
    ['1', 'Unexpected return value from namespace policy: 1', 'expected bool value, got 1'],
    ['(enforce false "no")', 'no', 'no'],
  ])('follow a policy: %s', (body, in4, in5) => {
    const four = dialogue(4, KEYS, policy(body), '(env-namespace-policy false (policy))');
    const five = dialogue(5, KEYS, policy(body), '(env-namespace-policy false policy)');
    if (in4 === undefined || in5 === undefined) {
      expect(four.say(DEFINE)).toBe('"Namespace defined: n"');
      expect(five.say(DEFINE)).toBe('"Namespace defined: n"');
    } else {
      expect(four.fault(DEFINE)).toBe(in4);
      expect(five.fault(DEFINE)).toBe(in5);
    }
    const root = '(module m G (defcap G () true))';
    expect(four.fault(root)).toBe('Definitions in default namespace are not authorized');
    expect(five.fault(root)).toBe('Namespace installation error: cannot install in root namespace');
  });

  it.each([4, 5] as const)('are not asked for upgrades since version 4.4, in dialect %i', (dialect) => {
    const member = dialect === 4 ? '(policy)' : 'policy';
    const { say } = dialogue(dialect, policy('true'), `(env-namespace-policy false ${member})`);
    expect(say(policy('true'))).toMatch(/^"Loaded module p, hash /);
  });

  it('are asked for upgrades before version 4.4', () => {
    const flag = "(env-exec-config ['DisablePact44])";
    const { fault } = dialogue(4, policy('true'), '(env-namespace-policy false (policy))', flag);
    expect(fault(policy('true'))).toBe('Definitions in default namespace are not authorized');
  });

  it('ask their user guard for upgrades in no version', () => {
    const { say, fault } = dialogue(4, KEYS, BOB, DEFINE, "(namespace 'n)", '(module m G (defcap G () true))');
    say('(env-keys [])');
    expect(fault('(module o G (defcap G () true))')).toBe('Keyset failure (keys-all): [bob]');
    expect(say('(module m G (defcap G () true))')).toMatch(/^"Loaded module n.m, hash /);
    say("(env-exec-config ['DisablePact44])");
    expect(say('(module m G (defcap G () true))')).toMatch(/^"Loaded module n.m, hash /);
  });

  it('do not show what a policy has given on chain', () => {
    const { fault } = dialogue(
      4,
      KEYS,
      policy('1'),
      '(env-namespace-policy true (policy))',
      '(env-simulate-onchain true)',
    );
    expect(fault(DEFINE)).toBe('Unexpected return value from namespace policy, received value of type: integer');
  });
});

describe('modules', () => {
  const HASH = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g';
  const MODULE = `(module m G (bless "z${HASH.slice(1)}") (bless "${HASH}") (defcap G () true) (implements i))`;
  const INTERFACE = '(interface i (defconst A 1))';

  it('are described', () => {
    const { say, fault } = dialogue(4, INTERFACE, MODULE);
    expect(say("(at 'blessed (describe-module 'm))")).toBe(`["${HASH}" "z${HASH.slice(1)}"]`);
    expect(say("(remove 'hash (remove 'code (remove 'blessed (describe-module 'm))))")).toBe(
      '{"interfaces": ["i"],"keyset": "G","name": "m"}',
    );
    expect(say("(describe-module 'i)")).toBe(`{"code": "${INTERFACE}","name": "i"}`);
    expect(fault("(describe-module 'none)")).toBe('Module not found: none');
    expect(fault('(describe-module "a b")')).toBe('Module not found: a b');
  });

  it('are described with the name of their keyset', () => {
    const { say } = dialogue(4, "(env-exec-config ['DisablePact44])", KEYS, BOB, '(define-keyset "k")');
    say("(module m 'k (defun f () 1))");
    expect(say("(at 'keyset (describe-module 'm))")).toBe(`"'k"`);
  });

  it('are described with the hash of their transaction in dialect 5', () => {
    const { say, fault } = dialogue(5, INTERFACE, MODULE);
    expect(say("(remove 'hash (remove 'code (describe-module 'm)))")).toBe(
      `{"interfaces": ["i"],"name": "m","tx_hash": "${HASH}"}`,
    );
    expect(say("(remove 'hash (remove 'code (describe-module 'i)))")).toBe(`{"name": "i","tx_hash": "${HASH}"}`);
    expect(fault("(describe-module 'none)")).toBe('Cannot find module: none');
    expect(fault('(describe-module "a b")')).toBe(
      'native execution failure, describe-module failed with message: invalid module name format',
    );
  });

  it('are listed in order', () => {
    const { say } = dialogue(4, '(interface z (defconst A 1))', INTERFACE);
    expect(say('(list-modules)')).toBe('["i" "z"]');
  });

  it('can be stored again in dialect 5', () => {
    const { say, fault } = dialogue(5, INTERFACE);
    expect(say('(static-redeploy "i")')).toBe('()');
    expect(fault('(static-redeploy "none")')).toBe('Cannot find module: none');
  });

  it('have rights that dialect 5 asks for', () => {
    const module = '(module m G (defcap G () (enforce false "no admin")))';
    const { say, fault } = dialogue(5, '(begin-tx)', module, '(commit-tx)');
    expect(fault('(acquire-module-admin m)')).toBe('no admin');
    say('(module n G (defcap G () true))');
    expect(say('(acquire-module-admin n)')).toBe('"Module admin for module n acquired"');
    expect(() => dialogue(4, module).say('(acquire-module-admin m)')).toThrow('Cannot resolve acquire-module-admin');
  });

  it.each([
    ['(describe-module "m")', []],
    ['(list-modules)', ['DisablePact411']],
    ['(pact-version)', ['DisablePact431']],
    ['(enforce-pact-version "4")', ['DisablePact431']],
  ])('%s is for queries', (code, freed) => {
    const flags = "(env-exec-config ['DisableHistoryInTransactionalMode])";
    const module = '(module m G (defcap G () true))';
    expect(dialogue(4, module, flags).fault(code)).toBe('Operation only permitted in local execution mode');
    for (const flag of freed) {
      const { say } = dialogue(4, module, `(env-exec-config ['DisableHistoryInTransactionalMode '${flag}])`);
      expect(say(code)).toBeTruthy();
    }
  });

  it('name the native that is for queries in dialect 5', () => {
    const { fault } = dialogue(5, "(env-exec-config ['DisableHistoryInTransactionalMode])");
    expect(fault('(list-modules)')).toBe('Operation only permitted in local execution mode: list-modules');
  });
});

describe('names of a module', () => {
  const MODULE = '(module m G (defcap G () true) (defun f () 1))';

  it('are unknown to files of contracts that are loaded after it', () => {
    const files = { 'all.repl': `${MODULE} (f) (load "c.pact")`, 'c.pact': '(m.f) (f)' };
    const { error } = newSession(4, files).runFile('all.repl');
    expect(error).toMatchObject({ message: 'Cannot resolve f', place: { file: 'c.pact' } });
  });

  it('are shown with the hash of the module in dialect 5', () => {
    const { say, fault } = dialogue(5);
    const [hash] = /[\w-]{43}/.exec(say(MODULE)) ?? [];
    expect(fault('(f 1)')).toBe(`Incorrect number of arguments (1) for function m.f.{${hash}} supplied; expected (0)`);
    expect(fault('(emit-event (G))')).toBe(`Invalid event capability m.G.{${hash}}`);
  });
});

describe('a schema of an interface', () => {
  const SCHEMA = '(module schemas G (defcap G () true) (defschema s a:integer))';
  const INTERFACE = '(interface i (defun f:object{schemas.s} (o:object{schemas.s})))';
  const module = '(module m G (defcap G () true) (implements i) (defun f:object{schemas.s} (o:object{schemas.s}) o))';

  it.each([
    [SCHEMA, undefined],
    [
      '(module schemas G (defcap G () true) (defschema s a:decimal))',
      'Return type mismatch with i: found object:{schemas.s}, expected object:{schemas.s}',
    ],
    [
      '(module schemas G (defcap G () true) (defschema s a:integer b:integer))',
      'Return type mismatch with i: found object:{schemas.s}, expected object:{schemas.s}',
    ],
  ])('may be loaded again before the module: %s', (again, message) => {
    const { say, fault } = dialogue(4, SCHEMA, INTERFACE, again);
    if (message === undefined) expect(say(module)).toMatch(/^"Loaded module m, hash /);
    else expect(fault(module)).toBe(message);
  });
});

describe('the version', () => {
  it.each([
    ['"2.3"', undefined],
    ['"4"', undefined],
    ['"4.13.2.9"', undefined],
    ['"4.0" "4.13"', undefined],
    ['"5"', 'Invalid pact version 4.13.2, minimum allowed: 5'],
    ['"4.14"', 'Invalid pact version 4.13.2, minimum allowed: 4.14'],
    ['"4" "4.12.9"', 'Invalid pact version 4.13.2, maximum allowed: 4.12.9'],
    ['"a"', 'Invalid version component: (a, a)'],
    [`"${'1'.repeat(101)}"`, `Invalid version component: (${'1'.repeat(101)}, ${'1'.repeat(101)})`],
    [
      '1',
      'Invalid arguments, received [1] for [min-version:string -> bool, min-version:string max-version:string -> bool]',
    ],
  ])('is held against %s', (bounds, message) => {
    const code = `(enforce-pact-version ${bounds})`;
    if (message === undefined) expect(dialogue().say(code)).toBe('true');
    else expect(dialogue().fault(code)).toBe(message);
  });

  it('was not that of the release before 4.3.1', () => {
    const { say } = dialogue();
    expect(say('(pact-version)')).toBe('"4.13.2"');
    say("(env-exec-config ['DisablePact431])");
    expect(say('(pact-version)')).toBe('"4.2.1"');
  });

  it.each([
    ['"5"', undefined],
    ['"5.4"', undefined],
    ['"5.3.9" "6"', undefined],
    ['"5.4.1"', 'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 5.4.1'],
    ['"5" "5.3"', 'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 5 Maximum Version: 5.3'],
    ['"5."', 'Enforce pact-version failed: Could not parse 5., expect list of dot-separated integers'],
  ])('is held against %s in dialect 5', (bounds, message) => {
    const code = `(enforce-pact-version ${bounds})`;
    if (message === undefined) expect(dialogue(5).say(code)).toBe('true');
    else expect(dialogue(5).fault(code)).toBe(message);
  });
});

describe('the unit of dialect 5', () => {
  it.each([
    ['()', '()'],
    ['(typeof ())', '"unit"'],
    ['(= () ())', 'true'],
    ['(= () 1)', 'false'],
    ['(let ((x:unit ())) x)', '()'],
    ['(do 1 2)', '2'],
    ['(do ())', '()'],
  ])('%s', (code, printed) => {
    expect(dialogue(5).say(code)).toBe(printed);
  });

  it('is evaluated after what stands before it', () => {
    const { fault } = dialogue(5);
    expect(fault('(do (enforce false "no") 1)')).toBe('no');
    expect(fault('(do)')).toMatch(/^Type error: failed to call native function do|^Incorrect number of arguments/);
    expect(fault('(let ((x:unit 1)) x)')).toBe(
      'Runtime typecheck failure, argument is integer , but expected type unit',
    );
  });
});
