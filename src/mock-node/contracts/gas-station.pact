;; The gas station of the mock node. It pays for the arrival of coins on a chain where their receiver has none.

(module gas-station GOVERNANCE

  "Pays for continuations of flows, such as the second step of a transfer between chains, up to a limit."

  (implements gas-payer-v1)

  (defconst ACCOUNT:string "kadena-xchain-gas"
    "The account that pays.")

  (defconst MAX-LIMIT:integer 850
    "Maximum gas limit that the station pays for.")

  (defconst MAX-PRICE:decimal 0.00000001
    "Maximum price of a unit of gas, in coins.")

  (defcap GOVERNANCE ()
    "Nobody can change this module."
    (enforce false "the gas station cannot be changed"))

  (defcap GAS_PAYER:bool (user:string limit:integer price:decimal)
    (enforce-conditions limit price))

  (defun create-gas-payer-guard:guard ()
    (create-user-guard (enforce-arrival)))

  (defun enforce-arrival:bool ()
    "Passes while gas is bought for a command that meets the conditions. The command needs no signature."
    (require-capability (coin.GAS))
    (let ((command (chain-data)))
      (enforce-conditions (at 'gas-limit command) (at 'gas-price command))))

  (defun enforce-conditions:bool (limit:integer price:decimal)
    "Fails unless the command is a continuation within the limits. While gas is bought, the node puts the kind of the \
    \command, `cont` or `exec`, into the data."
    (enforce
      (and (= "cont" (try "" (read-string "tx-type")))
           (and (<= limit MAX-LIMIT) (<= price MAX-PRICE)))
      "the gas station does not pay for this"))

  (defun open-account:string ()
    "Makes the account of the station. Anybody can then pay into it."
    (coin.create-account ACCOUNT (create-gas-payer-guard)))
)
