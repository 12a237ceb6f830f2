;; The interface of contracts whose account pays for other people's commands.

(interface gas-payer-v1

  "A gas station: an account that pays for the commands of others, under its own conditions."

  (defcap GAS_PAYER:bool (user:string limit:integer price:decimal)
    @doc "The user of a station signs for this capability, with the gas limit and the gas price. The node \
         \acquires it around the purchase of gas, so its body checks the station's conditions.")

  (defun create-gas-payer-guard:guard ()
    @doc "Returns the guard of the station's account. It should pass only while gas is bought.")
)
