;; What a token can do, so that wallets and other contracts handle every token alike.

(interface fungible-v2

  "A token with accounts. An account has a name, a balance, and a guard that decides who may spend the balance."

  (defschema account-details
    @doc "An account as `details` returns it."
    account:string
    balance:decimal
    guard:guard)

  ;; What is signed, and what happened.

  (defcap TRANSFER:bool (sender:string receiver:string amount:decimal)
    @doc "Allows to move up to AMOUNT from SENDER to RECEIVER. It is also the event of every movement of tokens: \
         \the sender is empty where tokens come into being, and the receiver where they leave the chain."
    @managed amount TRANSFER-mgr)

  (defun TRANSFER-mgr:decimal (managed:decimal requested:decimal)
    @doc "Takes REQUESTED from the amount that is still allowed, MANAGED, and returns the rest.")

  ;; Movements.

  (defun transfer:string (sender:string receiver:string amount:decimal)
    @doc "Moves AMOUNT to an account that exists.")

  (defun transfer-create:string (sender:string receiver:string receiver-guard:guard amount:decimal)
    @doc "Moves AMOUNT, and makes the account RECEIVER if it does not exist. If it exists, its guard must be equal.")

  (defpact transfer-crosschain:string
    (sender:string receiver:string receiver-guard:guard target-chain:string amount:decimal)
    @doc "Moves AMOUNT to an account on another chain. The first step takes it from this chain, the second step \
         \runs on TARGET-CHAIN and makes the account there if it does not exist.")

  ;; Questions.

  (defun get-balance:decimal (account:string)
    @doc "Returns the balance of an account. Fails if there is no such account.")

  (defun details:object{account-details} (account:string)
    @doc "Returns all that is known of an account. Fails if there is no such account.")

  (defun precision:integer ()
    @doc "Returns the greatest number of places that an amount may have.")

  (defun enforce-unit:bool (amount:decimal)
    @doc "Fails if AMOUNT has more places than `precision` allows.")

  ;; Accounts.

  (defun create-account:string (account:string guard:guard)
    @doc "Makes an account without balance. Fails if it exists.")

  (defun rotate:string (account:string new-guard:guard)
    @doc "Gives an account another guard. The present guard must agree.")
)
