/** A contract that a user of the ledger deploys, and commands for it. */

import { cmdOf } from '#pickaxe/protocol/ledger/command/build.js';
import type { CoinCall } from '#pickaxe/protocol/ledger/command/coin.js';
import { type Command, hashOfCmd, type KeyPair, requestKeyOfCmd } from '#pickaxe/protocol/ledger/command/command.js';
import type { Capability, PublicMeta } from '#pickaxe/protocol/ledger/command/command-payload.js';
import type { ExactJson } from '#pickaxe/protocol/ledger/json.js';
import { ALICE, alice, coins, keysetOf } from './bank.ts';

/** Tickets. Their owners can transfer them, also to another chain, and can offer them for a time. */
export const TICKETS = `
(namespace "free")
(define-keyset "free.tickets-admin" (read-keyset "admin"))

(module tickets GOVERNANCE
  (defcap GOVERNANCE () (enforce-keyset "free.tickets-admin"))

  (defschema holder tickets:decimal guard:guard)
  (deftable holders:{holder})
  (defschema journey name:string guard:guard tickets:decimal)

  (defcap HOLDER (name:string) (enforce-guard (at "guard" (read holders name))))
  (defcap HAND_ON (from:string to:string tickets:decimal)
    @managed tickets HAND_ON-left
    (enforce (> tickets 0.0) "some tickets")
    (compose-capability (HOLDER from)))
  (defun HAND_ON-left:decimal (left:decimal wanted:decimal)
    (enforce (<= wanted left) (format "only {} tickets are signed for" [left]))
    (- left wanted))
  (defcap COUNTED (name:string tickets:decimal) @event true)

  (defun issue (name:string guard:guard tickets:decimal)
    (with-capability (GOVERNANCE) (insert holders name { "tickets": tickets, "guard": guard }))
    (emit-event (COUNTED name tickets)))
  (defun count:decimal (name:string) (at "tickets" (read holders name)))
  (defun hand-on (from:string to:string tickets:decimal)
    (with-capability (HAND_ON from to tickets)
      (add from (- tickets))
      (add to tickets)))
  (defun add:string (name:string change:decimal)
    (let ((after (+ (count name) change)))
      (enforce (>= after 0.0) "there are not so many")
      (emit-event (COUNTED name after))
      (update holders name { "tickets": after })))

  (defpact travel (name:string guard:guard chain:string tickets:decimal)
    (step
      (with-capability (HOLDER name)
        (add name (- tickets))
        (yield { "name": name, "guard": guard, "tickets": tickets } chain)))
    (step
      (resume { "name" := name, "guard" := guard, "tickets" := tickets }
        (with-default-read holders name { "tickets": 0.0 } { "tickets" := before }
          (write holders name { "tickets": (+ before tickets), "guard": guard })))))

  (defpact offer (name:string tickets:decimal)
    (step-with-rollback
      (with-capability (HOLDER name) (add name (- tickets)))
      (add name tickets))
    (step "sold"))
)
(if (read-msg "is-new") [(create-table holders)] [])
`;

/** A gas station that pays for commands which only transfer tickets. */
export const STATION = `
(namespace "free")
(module ticket-station GOVERNANCE
  (implements gas-payer-v1)
  (defcap GOVERNANCE () (enforce false "nobody changes this"))
  (defcap PAYS () true)
  (defcap GAS_PAYER:bool (user:string limit:integer price:decimal)
    (enforce (= "exec" (read-string "tx-type")) "only code")
    (enforce (= 1 (length (read-msg "exec-code"))) "only one call")
    (enforce (= "(free.tickets.hand-on " (take 22 (at 0 (read-msg "exec-code")))) "only tickets are handed on")
    (enforce (<= (at "gas-price" (chain-data)) 0.000001) "the price is too high")
    (compose-capability (PAYS)))
  (defun create-gas-payer-guard:guard () (create-capability-guard (PAYS)))
  (defun open () (coin.create-account "ticket-station" (create-gas-payer-guard)))
)
(free.ticket-station.open)
`;

interface Given {
  readonly data?: ExactJson;
  readonly meta?: Partial<PublicMeta>;
  /** Without capabilities, the signature is for everything. */
  readonly clist?: readonly Capability[];
  readonly pair?: KeyPair;
}

const DEPLOYMENT_LIMIT = 150_000;

/** @returns a command signed by one key. By default, it is Alice's, which pays for gas and signs for everything */
export function signed(chain: number, message: CoinCall['message'], given: Given = {}): Command {
  const { clist, pair = ALICE, meta } = given;
  const cmd = cmdOf({
    networkId: 'development',
    payload: message,
    signers: [{ pubKey: pair.publicKey, ...(clist && { clist }) }],
    meta: {
      chainId: String(chain),
      sender: alice,
      gasLimit: DEPLOYMENT_LIMIT,
      gasPrice: coins('0.000001'),
      ttl: 600,
      creationTime: Math.floor(Date.now() / 1000) - 15,
      ...meta,
    },
    nonce: `${Math.random()}`,
  });
  return { cmd, hash: requestKeyOfCmd(cmd), sigs: [{ sig: pair.sign(hashOfCmd(cmd)) }] };
}

export function codeOn(chain: number, code: string, given: Given = {}): Command {
  return signed(chain, { exec: { code, data: given.data === undefined ? {} : given.data } }, given);
}

export function deployment(chain: number, { code = TICKETS, isNew = true } = {}): Command {
  return codeOn(chain, code, { data: { admin: keysetOf(ALICE), 'is-new': isNew } });
}
