;; The gas station of the mock node. With it, coins can be received on a chain where their receiver has none yet.

(module gas-station GOVERNANCE

  "Pays for the second step of transfers between chains, and for other continuations of flows, up to a limit."

  (implements gas-payer-v1)

  (defconst ACCOUNT:string "kadena-xchain-gas"
    "The account that pays.")

  (defconst GREATEST-LIMIT:integer 850
    "The greatest limit of gas that the station pays for.")

  (defconst HIGHEST-PRICE:decimal 0.00000001
    "The highest price of a unit of gas that the station pays.")

  (defcap GOVERNANCE ()
    "Nobody can change this module."
    (enforce false "the gas station cannot be changed"))

  (defcap GAS_PAYER:bool (user:string limit:integer price:decimal)
    (enforce-conditions limit price))

  (defun create-gas-payer-guard:guard ()
    (create-user-guard (enforce-arrival)))

  (defun enforce-arrival:bool ()
    "Passes while gas is bought for a command that the station pays for, signed or not: who has no coins need not sign."
    (require-capability (coin.GAS))
    (let ((command (chain-data)))
      (enforce-conditions (at 'gas-limit command) (at 'gas-price command))))

  (defun enforce-conditions:bool (limit:integer price:decimal)
    "Fails unless the command is a continuation that is cheap enough. While gas is bought, the node tells in the data \
    \what kind of command it is for: cont or exec."
    (enforce
      (and (= "cont" (try "" (read-string "tx-type")))
           (and (<= limit GREATEST-LIMIT) (<= price HIGHEST-PRICE)))
      "the gas station does not pay for this"))

  (defun open-account:string ()
    "Makes the account of the station, into which everybody may then pay."
    (coin.create-account ACCOUNT (create-gas-payer-guard)))
)
