# A shell that prints what it would offer at a tab, between lines of its own, and ends. COMPLETIONS is a folder of them.
PROMPT=
fpath=($COMPLETIONS $fpath)
autoload -Uz compinit
compinit -D -u -i
bindkey '^I' complete-word

zle-line-init() { print -r -- READY }
zle -N zle-line-init

compadd() {
  # Called to fill an array, it offers nothing.
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a offered
  builtin compadd -A offered "$@"
  [[ -n $offered ]] && print -rl -- "OFFERED "$^offered
  builtin compadd "$@"
}

finish() {
  print -r -- END
  exit
}
comppostfuncs=(finish)
