# Prints what zsh would offer for the command line $1, one a line, with the completions in the folder $2: on a terminal of
# its own, since completion is a part of zsh's line editor.
zmodload zsh/zpty
export TERM=xterm COMPLETIONS=$2 ZDOTDIR=${0:h}/zdotdir
zpty shell zsh -d -i
zpty -r shell line '*READY*'
zpty -w -n shell "$1"$'\t'
while zpty -r shell line; do
  [[ $line == *END* ]] && break
  [[ $line == *'OFFERED '* ]] && print -r -- ${${line##*OFFERED }%%$'\r'*}
done
zpty -d shell
