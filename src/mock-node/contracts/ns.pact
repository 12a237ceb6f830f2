;; Who may define which namespace. The node asks `validate` before a namespace is defined for the first time.

(module ns GOVERNANCE

  "Whoever has a guard may define the namespace that is named after it. The node registers all other names."

  (defschema registration
    "A row of the table. Its key is the name of a namespace."
    admin:guard
    active:bool)

  (deftable registry:{registration})

  (defconst PREFIX:string "n_"
    "The beginning of the names that are made from guards.")

  (defconst DIGITS:integer 40
    "The number of hex digits after it.")

  (defcap GOVERNANCE ()
    "Nobody can change this module."
    (enforce false "the module of namespaces cannot be changed"))

  (defcap REGISTER ()
    "Holds while the node registers a name. No function here acquires it."
    true)

  (defun create-principal-namespace:string (guard:guard)
    "Returns the name of the namespace that only an owner of GUARD may define."
    (+ PREFIX (take DIGITS (int-to-str 16 (str-to-int 64 (hash guard))))))

  (defun validate:bool (name:string admin:guard)
    "Whether a namespace NAME may be defined with ADMIN as the guard of its administration."
    (or (= name (create-principal-namespace admin)) (is-registered name admin)))

  (defun is-registered:bool (name:string admin:guard)
    (with-default-read registry name
      { "admin": admin, "active": false }
      { "admin" := registered-admin, "active" := active }
      (and active (= admin registered-admin))))

  (defun register:string (name:string admin:guard active:bool)
    "Lets ADMIN define the namespace NAME, or no longer."
    (require-capability (REGISTER))
    (enforce (!= PREFIX (take (length PREFIX) name)) "names that are made from guards cannot be registered")
    (write registry name { "admin": admin, "active": active }))

  ;; Guards of namespaces that belong to everybody.

  (defun open-guard:guard ()
    "Returns a guard that everybody passes."
    (create-user-guard (anybody)))

  (defun closed-guard:guard ()
    "Returns a guard that nobody passes."
    (create-user-guard (nobody)))

  (defun anybody:bool ()
    true)

  (defun nobody:bool ()
    (enforce false "nobody administers this namespace"))
)

(create-table registry)

;; Everybody may load modules into these two, and nobody can define them again. The node runs these lines before it
;; asks `validate`.
(define-namespace "free" (ns.open-guard) (ns.closed-guard))
(define-namespace "user" (ns.open-guard) (ns.closed-guard))
