;; The interface of tokens that can go to other chains.

(interface fungible-xchain-v1

  "Capabilities of transfers between chains, in addition to those of fungible-v2."

  (defcap TRANSFER_XCHAIN:bool (sender:string receiver:string amount:decimal target-chain:string)
    @doc "Allows one transfer of at most AMOUNT from SENDER to RECEIVER on TARGET-CHAIN, and reports it as an event."
    @managed amount TRANSFER_XCHAIN-mgr)

  (defun TRANSFER_XCHAIN-mgr:decimal (managed:decimal requested:decimal)
    @doc "Returns the amount that stays allowed when REQUESTED of MANAGED is used.")

  (defcap TRANSFER_XCHAIN_RECD:bool (sender:string receiver:string amount:decimal source-chain:string)
    @doc "Reports an arrival. The sender is empty, because its account is on another chain."
    @event)
)
