/** The functions of the interpreter that set chain data, flags, the participant, the namespace policy and proofs. */

import type { Dialect } from '../../dialect.ts';
import { ContractError } from '../../errors.ts';
import { type ChainData, FLAGS, type Flag, type ProofCheck } from '../../runtime/environment.ts';
import { Member } from '../../runtime/module.ts';
import { lazy, type Native, strict } from '../../runtime/native.ts';
import { SteppedWalk } from '../../runtime/steps.ts';
import type { Defun } from '../../syntax/tree.ts';
import { Decimal } from '../../values/decimal.ts';
import { printed } from '../../values/printing.ts';
import { Time } from '../../values/time.ts';
import { areEqual, type ContractObject, isList, isObject, type Value } from '../../values/values.ts';
import type { MockProof, TestRun } from '../test-run.ts';

export function chain(run: TestRun): readonly Native[] {
  return [
    strict('env-chain-data', 'new-data:object:~{public-chain-data} -> string', ([data, ...more], { evaluator }) => {
      if (data === undefined || !isObject(data) || more.length > 0) return undefined;
      const chain = changedChain(run.environment.chain, data, evaluator.dialect);
      // Suites use other texts, too, such as numbers of chains that no network has.
      if (data.has('chain-id') && !/^1?\d$/.test(chain.chainId)) {
        run.note(`env-chain-data has set chain-id ${printed(chain.chainId, evaluator)}, but nodes have chains 0 to 19`);
      }
      return run.set({ chain }, 'Updated public metadata');
    }),
    strict('env-entity', [' -> string', 'entity:string -> string'], ([entity, ...more]) => {
      if (more.length > 0 || (entity !== undefined && typeof entity !== 'string')) return undefined;
      return run.set({ entity }, entity === undefined ? 'Unset entity' : `Set entity to ${entity}`);
    }),
    lazy(
      'env-namespace-policy',
      'allow-root:bool ns-policy-fun:(ns:string ns-admin:guard -> bool) -> string',
      ([allows, policy, ...more], { evaluator }) => {
        if (!policy || more.length > 0 || typeof allows.value !== 'boolean') return undefined;
        // In dialect 4, the function is written as an application: `(f)`. Dialect 5 also accepts the bare name: `f`.
        const member = policy.asCall()?.member ?? (evaluator.dialect === 5 ? policy.value : undefined);
        const isFunction = member !== undefined && isDefun(member);
        if (!isFunction) return undefined;
        return run.set({ namespacePolicy: { allowsRoot: allows.value, policy: member } }, 'Installed namespace policy');
      },
    ),
    strict('env-exec-config', ['flags:[string] -> [string]', ' -> [string]'], ([flags, ...more], { evaluator }) => {
      if (more.length > 0) return undefined;
      if (flags === undefined) return run.shownFlags;
      if (!isList(flags) || !flags.every((flag) => typeof flag === 'string')) return undefined;
      const { chosen, shown } = chosenFlags(flags, evaluator.dialect);
      run.environment = { ...run.environment, flags: new Set(chosen) };
      run.shownFlags = shown;
      return shown;
    }),
    strict('env-simulate-onchain', 'on-chain:bool -> string', ([isOnChain, ...more]) => {
      if (typeof isOnChain !== 'boolean' || more.length > 0) return undefined;
      return run.set({ isOnChain }, `Set on-chain simulation execution mode to: ${isOnChain}`);
    }),
    strict('mock-spv', 'type:string payload:object:* output:object:* -> string', ([type, payload, output, ...more]) => {
      if (typeof type !== 'string' || payload === undefined || output === undefined) return undefined;
      if (!isObject(payload) || !isObject(output) || more.length > 0) return undefined;
      run.evaluator.kept?.addEntry([type, payload, output]);
      run.proofs.push({ type, payload, output });
      return run.set({ proofs: checkOf(run, run.proofs.length) }, `Added mock SPV for ${type}`);
    }),
  ];
}

/**
 * @returns a check that knows only the first `count` proofs. The check returns the output of the last of these proofs
 *   that has the given type and payload; undefined if there is no such proof
 */
function checkOf({ proofs, evaluator }: TestRun, count: number): ProofCheck {
  return (type, payload) => {
    evaluator.spend(count);
    const isWanted = (proof: MockProof) =>
      proof.type === type && areEqual(proof.payload, payload, new SteppedWalk(evaluator));
    return proofs.slice(0, count).findLast(isWanted)?.output;
  };
}

function isDefun(value: Value): value is Member<Defun> {
  return value instanceof Member && value.is('defun');
}

type Change = (value: Value) => Partial<ChainData> | undefined;

const CHAIN_DATA: Readonly<Record<string, Change>> = {
  'chain-id': (chainId) => (typeof chainId === 'string' ? { chainId } : undefined),
  sender: (sender) => (typeof sender === 'string' ? { sender } : undefined),
  'prev-block-hash': (hash) => (typeof hash === 'string' ? { previousBlockHash: hash } : undefined),
  'block-height': (blockHeight) => (typeof blockHeight === 'bigint' ? { blockHeight } : undefined),
  'gas-limit': (gasLimit) => (typeof gasLimit === 'bigint' ? { gasLimit } : undefined),
  'block-time': (blockTime) => (blockTime instanceof Time ? { blockTime } : undefined),
  'gas-price': (gasPrice) => (gasPrice instanceof Decimal ? { gasPrice } : undefined),
  // The specification (document 3) lists this field, but no native reads it.
  'gas-fee': () => ({}),
};

/** @returns the chain data with the changes in `data` @throws ContractError for an unknown key or a wrong value */
function changedChain(before: ChainData, data: ContractObject, dialect: Dialect): ChainData {
  let chain = before;
  for (const [key, value] of data) {
    const change = Object.hasOwn(CHAIN_DATA, key) ? CHAIN_DATA[key](value) : undefined;
    if (!change) {
      const what = dialect === 4 ? `values: ("${key}", ${printed(value, { dialect })})` : `value for key: ${key}`;
      throw new ContractError('eval', `envChainData: bad public metadata ${what}`);
    }
    chain = { ...chain, ...change };
  }
  return chain;
}

interface ChosenFlags {
  /** The flags that have an effect, in the order of `FLAGS`. */
  readonly chosen: readonly Flag[];
  /** The names as they were given, in the same order. In dialect 5, those of dialect 4 follow, which change nothing. */
  readonly shown: readonly string[];
}

/**
 * @param flags names of flags. `DisableFlow…`, as in the specification (document 3), is the same as `DisablePact…`.
 *   Dialect 5 ignores names that neither dialect has
 * @throws ContractError in dialect 4 for an unknown name
 */
function chosenFlags(flags: readonly string[], dialect: Dialect): ChosenFlags {
  const given = new Map(flags.map((flag) => [flag.replace(/^DisableFlow/, 'DisablePact'), flag]));
  const known: readonly Flag[] = FLAGS[dialect];
  const all = new Set<string>(dialect === 4 ? known : [...known, ...FLAGS[4]]);
  if (dialect === 4 && [...given.keys()].some((flag) => !all.has(flag))) {
    const isOfFlow = flags.some((flag) => flag.startsWith('DisableFlow'));
    const name = (flag: string) => (isOfFlow ? flag.replace(/^DisablePact/, 'DisableFlow') : flag);
    throw new ContractError(
      'eval',
      `Invalid flag, allowed: [${[...known]
        .map((flag) => `"${name(flag)}"`)
        .sort()
        .join(',')}]`,
    );
  }
  return {
    chosen: known.filter((flag) => given.has(flag)),
    shown: [...all].flatMap((flag) => given.get(flag) ?? []),
  };
}
