;; The policy of namespaces. The node calls `validate` before a namespace is defined for the first time.

(module ns GOVERNANCE

  "The owner of a guard may define the namespace that is named after it. The node registers all other names."

  (defschema registration
    "A row of the table. Its key is the name of a namespace."
    admin:guard
    active:bool)

  (deftable registry:{registration})

  (defconst PREFIX:string "n_"
    "Prefix of the names that are made from guards.")

  (defconst DIGITS:integer 40
    "Number of hex digits after the prefix.")

  (defcap GOVERNANCE ()
    "Nobody can change this module."
    (enforce false "the module of namespaces cannot be changed"))

  (defcap REGISTER ()
    "Granted while the node registers a name. No function here acquires it."
    true)

  (defun create-principal-namespace:string (guard:guard)
    "Returns the name of the namespace that needs GUARD as its administrator."
    (+ PREFIX (take DIGITS (int-to-str 16 (str-to-int 64 (hash guard))))))

  (defun validate:bool (name:string admin:guard)
    "Returns whether a namespace NAME may be defined with ADMIN as its administrator."
    (or (= name (create-principal-namespace admin)) (is-registered name admin)))

  (defun is-registered:bool (name:string admin:guard)
    (with-default-read registry name
      { "admin": admin, "active": false }
      { "admin" := registered-admin, "active" := active }
      (and active (= admin registered-admin))))

  (defun register:string (name:string admin:guard active:bool)
    "Allows ADMIN to define the namespace NAME, or forbids it if ACTIVE is false."
    (require-capability (REGISTER))
    (enforce (!= PREFIX (take (length PREFIX) name)) "names that are made from guards cannot be registered")
    (write registry name { "admin": admin, "active": active }))

  ;; Guards of open namespaces.

  (defun open-guard:guard ()
    "Returns a guard that always passes."
    (create-user-guard (anybody)))

  (defun closed-guard:guard ()
    "Returns a guard that never passes."
    (create-user-guard (nobody)))

  (defun anybody:bool ()
    true)

  (defun nobody:bool ()
    (enforce false "nobody administers this namespace"))
)

(create-table registry)

;; Anybody can load modules into these two, and nobody can redefine them. The node runs these lines before it installs
;; the policy.
(define-namespace "free" (ns.open-guard) (ns.closed-guard))
(define-namespace "user" (ns.open-guard) (ns.closed-guard))
