;; The interface of tokens. Wallets and other contracts use every token through it.

(interface fungible-v2

  "A token with accounts. An account has a name, a balance, and a guard that protects the balance."

  (defschema account-details
    @doc "An account as `details` returns it."
    account:string
    balance:decimal
    guard:guard)

  (defcap TRANSFER:bool (sender:string receiver:string amount:decimal)
    @doc "Allows transfers of AMOUNT in total from SENDER to RECEIVER. As an event it reports any movement of tokens: \
         \the sender is empty for new tokens, and the receiver for tokens that leave the chain."
    @managed amount TRANSFER-mgr)

  (defun TRANSFER-mgr:decimal (managed:decimal requested:decimal)
    @doc "Returns the amount that stays allowed when REQUESTED of MANAGED is used.")

  ;; Transfers.

  (defun transfer:string (sender:string receiver:string amount:decimal)
    @doc "Moves AMOUNT to an existing account.")

  (defun transfer-create:string (sender:string receiver:string receiver-guard:guard amount:decimal)
    @doc "Moves AMOUNT, and makes the account RECEIVER if it does not exist. An existing account must have this guard.")

  (defpact transfer-crosschain:string
    (sender:string receiver:string receiver-guard:guard target-chain:string amount:decimal)
    @doc "Moves AMOUNT to an account on another chain. The first step takes it from this chain, the second step \
         \runs on TARGET-CHAIN and makes the account there if it does not exist.")

  ;; Reads.

  (defun get-balance:decimal (account:string)
    @doc "Returns the balance of an account. Fails if there is no such account.")

  (defun details:object{account-details} (account:string)
    @doc "Returns the whole account. Fails if there is no such account.")

  (defun precision:integer ()
    @doc "Returns the maximum number of decimal places of an amount.")

  (defun enforce-unit:bool (amount:decimal)
    @doc "Fails if AMOUNT has more places than `precision` allows.")

  ;; Accounts.

  (defun create-account:string (account:string guard:guard)
    @doc "Makes an account without balance. Fails if it exists.")

  (defun rotate:string (account:string new-guard:guard)
    @doc "Gives an account another guard. The present guard must pass.")
)
