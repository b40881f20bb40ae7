# What zsh offers for a line when Tab is pressed: an interactive shell in a pseudo-terminal, with this completion script.
# usage: zsh -f zsh-offers.zsh SCRIPT LINE      prints one choice a line
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1= PS2=; stty -echo; autoload -U compinit && compinit -D -u'
zpty -w shell "source ${(q)1}"
# What is waited for stands in no line that is typed: the terminal may echo those twice before they run.
# A call with -O, -A or -D adds nothing to what is offered: it only sorts out what fits.
zpty -w shell 'compadd() {
  local -a found
  if [[ " $* " != *" "-[OAD]" "* ]]; then
    builtin compadd -A found "$@"
    print -rl -- "" "OFFER "$IPREFIX$^found
  fi
  builtin compadd "$@"
}
offers() { _main_complete; print -r -- "" "OFFERS E""ND"; compstate[insert]=; compstate[list]= }
zle -C offers complete-word offers
bindkey "^I" offers
print REA""DY'
zpty -r shell text '*READY*'
zpty -w -n shell "$2"$'\t'
zpty -r shell text '*OFFERS END*'
for line in "${(@f)text}"; do
  [[ $line == "OFFER "?* ]] && print -r -- "${${line#OFFER }%$'\r'}"
done
zpty -d shell
exit 0
