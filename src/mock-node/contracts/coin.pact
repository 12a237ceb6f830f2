;; The coin of the mock node's ledger. It pays for gas, and it is the reward of miners.

(module coin GOVERNANCE

  "Accounts with coins, transfers on one chain and between chains, the payment of gas, and the reward of miners."

  (implements fungible-v2)
  (implements fungible-xchain-v1)

  ;; ----------------------------------------------------------------------------------------------------------------
  ;; Accounts

  (defschema account
    "A row of the table. Its key is the name of the account."
    balance:decimal
    guard:guard)

  (deftable coin-table:{account})

  (defschema in-transit
    "Coins on their way from one chain to another."
    receiver:string
    receiver-guard:guard
    amount:decimal
    source-chain:string)

  (defconst PRECISION:integer 12
    "Maximum number of decimal places of an amount.")

  (defconst NAME-CHARSET:integer CHARSET_LATIN1
    "Allowed characters of account names.")

  (defconst MIN-NAME:integer 3
    "Minimum length of an account name, in characters.")

  (defconst MAX-NAME:integer 256
    "Maximum length of an account name, in characters.")

  (defconst CHAINS:[string] (map (int-to-str 10) (enumerate 0 19))
    "The chains that can be the target of a transfer.")

  ;; ----------------------------------------------------------------------------------------------------------------
  ;; Capabilities

  (defcap GOVERNANCE ()
    "Nobody can change this module."
    (enforce false "the coin contract cannot be changed"))

  ;; No function here acquires the next three capabilities: only the node can grant them.

  (defcap GAS ()
    "Granted while the node buys gas for a command, and while it pays the miner. The payer of the gas signs for it."
    true)

  (defcap COINBASE ()
    "Granted while the node rewards the miner of a block."
    true)

  (defcap GENESIS ()
    "Granted while the node makes the first accounts."
    true)

  (defcap DEBIT (sender:string)
    "Allows a debit of an account. Its guard must pass."
    (enforce-guard (guard-of sender)))

  (defcap WITHDRAW (account:string)
    "Acquired only after the guard of the account has passed."
    true)

  (defcap CREDIT (receiver:string)
    "Allows a credit to an account."
    (enforce-named receiver))

  (defcap ROTATE (account:string)
    "Allows one change of an account's guard. The present guard must pass."
    @managed
    (enforce-guard (guard-of account)))

  (defcap TRANSFER:bool (sender:string receiver:string amount:decimal)
    @managed amount TRANSFER-mgr
    (enforce-transfer sender receiver amount)
    (compose-capability (DEBIT sender))
    (compose-capability (CREDIT receiver)))

  (defun TRANSFER-mgr:decimal (managed:decimal requested:decimal)
    (enforce (<= requested managed) (format "TRANSFER exceeded for balance {}" [managed]))
    (- managed requested))

  (defcap TRANSFER_XCHAIN:bool (sender:string receiver:string amount:decimal target-chain:string)
    @managed amount TRANSFER_XCHAIN-mgr
    (enforce-transferable amount)
    (compose-capability (DEBIT sender)))

  (defun TRANSFER_XCHAIN-mgr:decimal (managed:decimal requested:decimal)
    "Leaves nothing, so that one signature begins only one transfer between chains."
    (enforce (<= requested managed) (format "TRANSFER_XCHAIN exceeded for balance {}" [managed]))
    0.0)

  (defcap TRANSFER_XCHAIN_RECD:bool (sender:string receiver:string amount:decimal source-chain:string)
    @event
    true)

  ;; ----------------------------------------------------------------------------------------------------------------
  ;; Rules

  (defun enforce-unit:bool (amount:decimal)
    (enforce (= amount (floor amount PRECISION)) (format "Amount violates minimum precision: {}" [amount])))

  (defun enforce-transferable:bool (amount:decimal)
    "Fails unless AMOUNT can be transferred."
    (enforce (> amount 0.0) "transfer amount must be positive")
    (enforce-unit amount))

  (defun enforce-transfer:bool (sender:string receiver:string amount:decimal)
    "Fails unless the transfer is possible on one chain."
    (enforce (!= sender receiver) "sender cannot be the receiver of a transfer")
    (enforce-named sender)
    (enforce-named receiver)
    (enforce-transferable amount))

  (defun enforce-named:bool (account:string)
    "Fails unless ACCOUNT is a possible name."
    (enforce (is-charset NAME-CHARSET account)
      (format "Account does not conform to the coin contract charset: {}" [account]))
    (enforce (>= (length account) MIN-NAME)
      (format "Account name does not conform to the min length requirement: {}" [account]))
    (enforce (<= (length account) MAX-NAME)
      (format "Account name does not conform to the max length requirement: {}" [account])))

  (defun enforce-principal:bool (account:string guard:guard)
    "Fails if the name of ACCOUNT is in the form of a principal, such as k:KEY, but is not the principal of GUARD. \
    \So the owner of such an account is the same on every chain."
    (let ((protocol (take 1 account)))
      (enforce (or (!= ":" (take 1 (drop 1 account))) (validate-principal guard account))
        (if (= protocol "k")
          "Single-key account protocol violation"
          (format "Reserved protocol guard violation: {}" [protocol])))))

  (defun enforce-other-chain:bool (target-chain:string)
    "Fails unless TARGET-CHAIN is one of the other chains."
    (enforce (!= target-chain (this-chain)) "cannot run cross-chain transfers to the same chain")
    (enforce (contains target-chain CHAINS) "target chain is not a valid chainweb chain id"))

  ;; ----------------------------------------------------------------------------------------------------------------
  ;; Questions

  (defun precision:integer ()
    PRECISION)

  (defun get-balance:decimal (account:string)
    (with-read coin-table account { "balance" := balance }
      balance))

  (defun details:object{fungible-v2.account-details} (account:string)
    (with-read coin-table account { "balance" := balance, "guard" := guard }
      { "account": account, "balance": balance, "guard": guard }))

  (defun guard-of:guard (account:string)
    (with-read coin-table account { "guard" := guard }
      guard))

  (defun this-chain:string ()
    (at 'chain-id (chain-data)))

  ;; ----------------------------------------------------------------------------------------------------------------
  ;; Accounts and transfers

  (defun create-account:string (account:string guard:guard)
    (enforce-named account)
    (enforce-principal account guard)
    (insert coin-table account { "balance": 0.0, "guard": guard }))

  (defun rotate:string (account:string new-guard:guard)
    (with-capability (ROTATE account)
      (enforce-principal account new-guard)
      (update coin-table account { "guard": new-guard })))

  ;; The body of TRANSFER runs with the signed amount, so each transfer also checks the amount that it moves.

  (defun transfer:string (sender:string receiver:string amount:decimal)
    (enforce-transfer sender receiver amount)
    (with-capability (TRANSFER sender receiver amount)
      (debit sender amount)
      (credit receiver (guard-of receiver) amount)))

  (defun transfer-create:string (sender:string receiver:string receiver-guard:guard amount:decimal)
    (enforce-transfer sender receiver amount)
    (with-capability (TRANSFER sender receiver amount)
      (debit sender amount)
      (credit receiver receiver-guard amount)))

  (defpact transfer-crosschain:string
    (sender:string receiver:string receiver-guard:guard target-chain:string amount:decimal)

    ;; This step runs on the source chain. It refuses what the second step would refuse.
    (step
      (let ((coins:object{in-transit}
              { "receiver": receiver
              , "receiver-guard": receiver-guard
              , "amount": amount
              , "source-chain": (this-chain) }))
        (enforce-other-chain target-chain)
        (enforce-transferable amount)
        (enforce-named sender)
        (enforce-named receiver)
        (enforce-principal receiver receiver-guard)
        (with-capability (TRANSFER_XCHAIN sender receiver amount target-chain)
          (emit-event (TRANSFER sender "" amount))
          (debit sender amount)
          (yield coins target-chain))))

    ;; This step runs on the target chain. It needs no signature.
    (step
      (resume
        { "receiver" := receiver
        , "receiver-guard" := receiver-guard
        , "amount" := amount
        , "source-chain" := source-chain }
        (emit-event (TRANSFER "" receiver amount))
        (emit-event (TRANSFER_XCHAIN_RECD "" receiver amount source-chain))
        (with-capability (CREDIT receiver)
          (credit receiver receiver-guard amount)))))

  ;; ----------------------------------------------------------------------------------------------------------------
  ;; Balances. Only functions of this module can acquire the capabilities that these three require.

  (defun debit:string (account:string amount:decimal)
    "Takes coins from an account."
    (require-capability (DEBIT account))
    (with-capability (WITHDRAW account)
      (withdraw account amount)))

  (defun withdraw:string (account:string amount:decimal)
    (require-capability (WITHDRAW account))
    (enforce-amount amount)
    (with-read coin-table account { "balance" := balance }
      (enforce (<= amount balance) "Insufficient funds")
      (update coin-table account { "balance": (- balance amount) })))

  (defun credit:string (account:string guard:guard amount:decimal)
    "Gives coins to an account, and makes it if it does not exist. An existing account must have this guard."
    (require-capability (CREDIT account))
    (enforce-amount amount)
    (with-default-read coin-table account
      { "balance": -1.0, "guard": guard }
      { "balance" := balance, "guard" := present-guard }
      (enforce (= present-guard guard) "account guards do not match")
      (let ((is-new (= balance -1.0)))
        (if is-new (enforce-principal account guard) true)
        (write coin-table account { "balance": (if is-new amount (+ balance amount)), "guard": guard }))))

  (defun enforce-amount:bool (amount:decimal)
    "Fails unless a balance can change by AMOUNT. Rewards and fees can be 0."
    (enforce (>= amount 0.0) "an amount cannot be negative")
    (enforce-unit amount))

  ;; ----------------------------------------------------------------------------------------------------------------
  ;; Gas. Before a command, the node runs the first step of `fund-tx`, which takes the price of the gas limit. After the
  ;; command it runs the second step, which pays for the gas used.

  (defpact fund-tx (sender:string miner:string miner-guard:guard total:decimal)
    "Pays for the gas of one command. TOTAL is the gas limit times the gas price."
    (step (buy-gas sender total))
    (step (redeem-gas miner miner-guard sender total)))

  (defun buy-gas:string (sender:string total:decimal)
    "Takes the price of the gas limit from its payer. DEBIT is not used here: in the body of a capability, only \
    \signatures for that capability count, and the payer of gas has signed for GAS."
    (require-capability (GAS))
    (enforce-guard (guard-of sender))
    (with-capability (WITHDRAW sender)
      (withdraw sender total)))

  (defun redeem-gas:string (miner:string miner-guard:guard sender:string total:decimal)
    "Gives the fee to the miner, and the rest of TOTAL back to SENDER. The node puts the fee into the data."
    (require-capability (GAS))
    (let ((fee:decimal (read-decimal "fee")))
      (enforce (<= fee total) "the fee cannot be more than what was paid")
      (emit-event (TRANSFER sender miner fee))
      (with-capability (CREDIT sender)
        (credit sender (guard-of sender) (- total fee)))
      (with-capability (CREDIT miner)
        (credit miner miner-guard fee))))

  ;; Functions for the user guards of accounts that pay for gas.

  (defun gas-only:bool ()
    "Passes only while gas is bought."
    (require-capability (GAS)))

  (defun gas-guard:bool (guard:guard)
    "Passes while gas is bought, and otherwise if GUARD passes."
    (enforce-one "neither is gas bought, nor does the guard pass"
      [ (gas-only) (enforce-guard guard) ]))

  ;; ----------------------------------------------------------------------------------------------------------------
  ;; New coins

  (defun coinbase:string (account:string guard:guard amount:decimal)
    "Rewards the miner of a block."
    (require-capability (COINBASE))
    (emit-event (TRANSFER "" account amount))
    (with-capability (CREDIT account)
      (credit account guard amount)))

  (defun create-genesis-account:string (account:string guard:guard balance:decimal)
    "Makes an account with coins before the first block. The name is not compared with the guard: networks have \
    \accounts that are older than principals."
    (require-capability (GENESIS))
    (enforce-named account)
    (enforce-amount balance)
    (insert coin-table account { "balance": balance, "guard": guard }))
)

(create-table coin-table)
