/** The natives of dialect 5 in translated code, which names them by numbers. */

/**
 * The natives by their numbers. Some have a second name, and so a second number, for calls with another number of
 * arguments.
 */
const NAMES = `
+ - * / negate abs ^ not = != > >= < <= & | xor ~ shift round ceiling floor round-prec ceiling-prec floor-prec exp ln
sqrt log length take drop concat reverse contains sort sort-object remove mod map filter zip int-to-str str-to-int
str-to-int-base fold distinct format enumerate enumerate-step show read-msg read-msg-default read-integer read-decimal
read-string read-keyset enforce-guard enforce-keyset keyset-ref-guard at make-list base64-encode base64-decode
str-to-list yield yield-to-chain resume bind require-capability compose-capability install-capability emit-event
create-capability-guard create-capability-pact-guard create-module-guard create-pact-guard create-table
describe-keyset describe-module describe-table define-keyset define-read-keyset fold-db insert keys read select
select-with-fields update with-default-read with-read write tx-hash and? or? where not? hash continue parse-time
format-time time add-time diff-time hours minutes days compose create-principal is-principal typeof-principal
validate-principal namespace define-namespace describe-namespace chain-data is-charset pact-id pairing-check
scalar-mult point-add poseidon-hash-hack-a-chain typeof dec cond identity verify-spv enforce-verifier
acquire-module-admin hyperlane-message-id hyperlane-decode-token-message hyperlane-encode-token-message
read-with-fields list-modules static-redeploy hash-keccak256 hash-poseidon

expect expect-failure expect-failure-match expect-that print env-stackframe env-chain-data env-data env-events env-hash
env-keys env-sigs begin-tx begin-named-tx commit-tx rollback-tx sig-keyset test-capability env-exec-config
env-namespace-policy env-gas env-set-gas env-milligas env-set-milligas env-gaslimit env-gaslog env-gasmodel
env-ask-gasmodel continue-pact continue-pact-with-rollback continue-pact-rollback-yield
continue-pact-rollback-yield-object pact-state reset-pact-state pact-version enforce-pact-version
enforce-pact-version-range env-enable-repl-natives env-module-admin env-verifiers env-set-debug-flag load load-with-env
typecheck`;

const NUMBERS: ReadonlyMap<string, number> = new Map(
  NAMES.trim()
    .split(/\s+/)
    .map((name, number) => [name, number]),
);

/** The second names of natives, by the native and the number of arguments. */
const WITH_COUNT: ReadonlyMap<string, string> = new Map([
  ['- 1', 'negate'],
  ['enumerate 3', 'enumerate-step'],
  ['select 3', 'select-with-fields'],
  ['sort 2', 'sort-object'],
  ['round 2', 'round-prec'],
  ['ceiling 2', 'ceiling-prec'],
  ['floor 2', 'floor-prec'],
  ['str-to-int 2', 'str-to-int-base'],
  ['read-msg 0', 'read-msg-default'],
  ['define-keyset 1', 'define-read-keyset'],
  ['yield 2', 'yield-to-chain'],
  ['read 3', 'read-with-fields'],
  ['load 2', 'load-with-env'],
  ['pact-state 1', 'reset-pact-state'],
  ['continue-pact 2', 'continue-pact-with-rollback'],
  ['continue-pact 3', 'continue-pact-rollback-yield'],
  ['continue-pact 4', 'continue-pact-rollback-yield-object'],
  ['env-gas 1', 'env-set-gas'],
  ['env-gasmodel 0', 'env-ask-gasmodel'],
  ['begin-tx 1', 'begin-named-tx'],
  ['enforce-pact-version 2', 'enforce-pact-version-range'],
  ['expect-failure 3', 'expect-failure-match'],
]);

/** The functions for tests whose last arguments are evaluated only inside the function, by their number. */
export const SUSPENDED: ReadonlyMap<string, number> = new Map([
  ['expect', 2],
  ['expect-failure', 1],
  ['expect-failure-match', 1],
]);

/** @returns the name of a native that is called with this number of arguments */
export function nativeFor(name: string, count: number): string {
  return WITH_COUNT.get(`${name} ${count}`) ?? name;
}

export function numberOfNative(name: string): number {
  return NUMBERS.get(name) ?? NUMBERS.size;
}
