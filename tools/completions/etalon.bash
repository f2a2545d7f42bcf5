# Completion of etalon in bash: the command itself knows what may follow.
_etalon() {
  mapfile -t COMPREPLY < <("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _etalon etalon
