;; What is signed, and what happened, when tokens go to another chain.

(interface fungible-xchain-v1

  "The capabilities of tokens that can go to other chains, beside those of fungible-v2."

  (defcap TRANSFER_XCHAIN:bool (sender:string receiver:string amount:decimal target-chain:string)
    @doc "Allows one movement of at most AMOUNT from SENDER to RECEIVER on TARGET-CHAIN. It is also its event."
    @managed amount TRANSFER_XCHAIN-mgr)

  (defun TRANSFER_XCHAIN-mgr:decimal (managed:decimal requested:decimal)
    @doc "Fails if REQUESTED is more than MANAGED, and returns what may be moved afterwards.")

  (defcap TRANSFER_XCHAIN_RECD:bool (sender:string receiver:string amount:decimal source-chain:string)
    @doc "The event of an arrival. The sender is empty, because it has no account on this chain."
    @event)
)
