# Completion of etalon in fish: the command itself knows what may follow.
function __etalon_words
    set -l words (commandline -opc)
    $words[1] complete -- $words[2..] (commandline -ct) 2>/dev/null
end
complete -c etalon -a '(__etalon_words)'
