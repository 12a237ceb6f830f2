;; What a contract must have so that its account can pay for other people's commands.

(interface gas-payer-v1

  "A gas station: an account that pays for the commands of others, under its own conditions."

  (defcap GAS_PAYER:bool (user:string limit:integer price:decimal)
    @doc "The user of a station signs for this capability, with the greatest gas and the price of a unit. The node \
         \acquires it around the purchase of gas, so its body has the station's conditions.")

  (defun create-gas-payer-guard:guard ()
    @doc "Returns the guard of the station's account, which passes only while gas is bought.")
)
