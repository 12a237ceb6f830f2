# Prints what bash would offer for the words $2 ..., one a line, with the completion in the file $1.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
# What `complete -F` has registered, as bash calls it.
function=$(complete -p "$1" | sed -E 's/.* -F ([^ ]+) .*/\1/')
"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
