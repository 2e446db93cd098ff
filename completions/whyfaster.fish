# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_whyfaster_global_optspecs
    string join \n h/help help-all V/version
end

function __fish_whyfaster_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_whyfaster_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_whyfaster_using_subcommand
    set -l cmd (__fish_whyfaster_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c whyfaster -n "__fish_whyfaster_needs_command" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "compare" -d 'Say which of these commands is faster, and from what load on that changes'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "trace" -d 'Explain one command or pipeline: where the time of its whole process tree went'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "show" -d 'Print a record again, with the analysis redone'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "report" -d 'Make a page of a record, a trace or price lists: one file with every picture and number'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "study" -d 'List the studies, or run one: an article\'s measurement, repeated on this machine'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "prices" -d 'Price what this machine charges: system calls, processes, threads, pipes, page faults'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "machines" -d 'Set price lists side by side: which machine charges more, for what, and why'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "fleet" -d 'Ask the same of many machines: how they differ, by which facts, and which of them stand out'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "store" -d 'Keep records of many machines in a database, where \'fleet\' asks them'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "doctor" -d 'Say what this machine allows, how noisy it is, and what would help'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "demo" -d 'Show a pair of commands whose order flips from one copy to many, in less than 30 seconds'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "man" -d 'Show the manual: of whyfaster, or of one verb'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "completions" -d 'Print the completions for a shell'
complete -c whyfaster -n "__fish_whyfaster_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s w -l warmup -d 'Run each command NUM times untimed first' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s m -l min-runs -d 'Run at least NUM rounds [default: as many as an interval needs; of a single command 10]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s M -l max-runs -d 'Run at most NUM rounds [default: as many as the verdict needs]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s r -l runs -d 'Run each exactly NUM times, and nothing else' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s s -l setup -d 'Run CMD once before the first round' -r -f -a "(__fish_complete_command)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l reference -d 'Compare all others with CMD' -r -f -a "(__fish_complete_command)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l reference-name -d 'Call the reference command NAME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s p -l prepare -d 'Run CMD before every timed run' -r -f -a "(__fish_complete_command)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s C -l conclude -d 'Run CMD after every timed run' -r -f -a "(__fish_complete_command)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s c -l cleanup -d 'Run CMD once after the last round' -r -f -a "(__fish_complete_command)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s P -l parameter-scan -d 'Make an alternative of each number from MIN to MAX, put in for {VAR}' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s D -l parameter-step-size -d 'Go from MIN to MAX of --parameter-scan in steps of DELTA' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s L -l parameter-list -d 'Put each of VALUES in for {VAR}' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s i -l ignore-failure -d 'Go on when a command fails' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l output -d 'Send what timed runs print to WHERE' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s n -l command-name -d 'Call a command NAME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l shell -d 'Run commands with SHELL [default: sh]' -r -f -a "(__fish_complete_command)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l input -d 'Let commands read from WHERE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l env -d 'Set environment variables' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l min-benchmarking-time -d 'Accepted so that scripts written for hyperfine go on working; the statistics decide how long to measure' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l metrics -d 'Compare metrics: default, time, all, or a list' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l style -d 'Colour and movement: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l sort -d 'Order of results: auto, command or mean-time' -r -f -a "auto\t'On the screen by time at a single level, and in the order of the command line when there are several, so that rows keep their place; in exported tables in the order of the command line'
command\t'In the order of the command line'
mean-time\t'By mean time'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s u -l time-unit -d 'Show times in UNIT: microsecond, millisecond, second, minute or hour' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l export-asciidoc -d 'Write hyperfine\'s AsciiDoc table to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l export-json -d 'Write hyperfine\'s JSON to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l export-csv -d 'Write hyperfine\'s CSV to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l export-markdown -d 'Write hyperfine\'s Markdown table to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l export-orgmode -d 'Write hyperfine\'s Org table to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l export-format -d 'Write files as hyperfine1 or hyperfine2 does [default: hyperfine1]' -r -f -a "hyperfine1\t'hyperfine 1'
hyperfine2\t'hyperfine 2'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l load -d 'Copies at once, such as 1,10,100, or auto [default: 1]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l mode -d 'How copies arrive: batch, closed or open [default: batch]' -r -f -a "batch\t'N copies are released together; the time until the last one ends counts'
closed\t'N workers; each starts a copy as soon as its last one ended'
open\t'Copies start at --rate, whatever became of the earlier ones'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l rate -d 'Copies started a second, for --mode open' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l duration -d 'How long copies are started, for --mode closed and open [default: 5s]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l max-time -d 'Begin nothing that would end after TIME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l delta -d 'Call a smaller difference none [default: 2%]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l confidence -d 'Confidence of all intervals together [default: 95%]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l pace -d 'Cancel changes of the CPU\'s speed: auto, on or off [default: auto]' -r -f -a "auto\t'Where --load asks for copies at once'
on\t'Also for one copy alone'
off\t'Neither'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l seed -d 'Seed of the random order [default: a fresh one, kept in the record]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l timeout -d 'End a copy after TIME; it counts as too slow' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l check-output -d 'What to do if outputs differ: report or strict [default: report]' -r -f -a "report\t'It is reported with the verdict'
strict\t'It is an error'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l placement -d 'Sessions of the copies: session (each its own) or shared (one for all) [default: session]' -r -f -a "session\t'Each copy in a session of its own'
shared\t'All copies of a batch in one session'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l pin -d 'Run the copies on these CPUs only, such as 0-3,5' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l why -d 'Explain the difference: yes, observe (no experiments) or no' -r -f -a "yes\t'By observation and experiments'
observe\t'By observation alone'
no\t'Not at all'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l why-rounds -d 'Observe every alternative this many times [default: 3 to 22, until the causes are known]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l on -d 'Measure on another machine, such as ssh:HOST' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l send -d 'Copy FILE into the directory over there in which the commands run' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l binary -d 'Use this whyfaster on machines of another instruction set' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l fail-if-slower -d 'Exit with 3 if one is slower' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l fail-if -d 'Exit with 3 if a metric is above a limit' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l record -d 'Write the record to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l html -d 'Write a page with pictures to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l svg -d 'Write the main picture to FILE, as SVG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l png -d 'Write the same picture to FILE, as PNG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l show-output -d 'Show what the commands print; the same as --output=inherit'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s S -d 'The same as --shell=default'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s N -d 'The same as --shell=none'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l no-check-output -d 'Do not compare what the alternatives print'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l dry-run -d 'Print what would run, and run nothing'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l keep-daemons -d 'Leave running what a command started'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l drop-caches -d 'Empty the page cache before every timed run (needs root)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l as-root -d 'Under sudo, run the commands as root, and write files as root'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l fail-on-inconclusive -d 'Exit with 4 if a gate could not be decided'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l no-keep -d 'Do not keep the record for \'whyfaster show\''
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l json -d 'Print JSON instead of the report'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l open -d 'Open the page in the browser (xdg-open)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand compare" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l follow -d 'Observe a tree that runs already: a process id, or the directory of a cgroup' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l duration -d 'End after this time, such as 10s; a command is ended with all that it started' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l level -d 'Observe with: auto, full, ptrace, unprivileged or rusage [default: auto]' -r -f -a "auto\t'The best that is to be had here'
full\t'Everything, by BPF programs in the kernel'
ptrace\t'Every system call, by ptrace'
unprivileged\t'Forks, execs and ends by ptrace, without a stop at system calls'
rusage\t'Only what the kernel adds up for a parent'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l untraced-runs -d 'Run the command NUM times more, untraced, to see what tracing cost; 0 for never [default: 3, within 10 s]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l ring-size -d 'Size of the buffer between kernel and whyfaster, a power of two such as 16M [default: 16M]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l sample-rate -d 'Take the stack of what runs NUM times a second on every CPU [default with --flamegraph or --folded: 499]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l shell -d 'Run commands with SHELL [default: sh]' -r -f -a "(__fish_complete_command)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l input -d 'Let commands read from WHERE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l env -d 'Set environment variables' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l output -d 'Send what the command prints to WHERE: inherit, null, or a file [default: inherit]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l pin -d 'Run the command on these CPUs only, such as 0-3,5' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l by -d 'Take system calls together by: command, process or none [default: command]' -r -f -a "command\t'Those of one command'
process\t'Those of one process'
none\t'Those of the whole tree'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l top -d 'Show NUM rows of every table of a trace; 0 for all [default: 20]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l sort -d 'Order of the table of system calls: time, calls, errors or name [default: time]' -r -f -a "time\t'The most time'
calls\t'The most calls'
errors\t'The most errors'
name\t'By the name of the call'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l calls -d 'Print system calls as they happen, on standard error: all, or those named, such as \'openat,read\'' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -s u -l time-unit -d 'Show times in UNIT: microsecond, millisecond, second, minute or hour' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l record -d 'Write the record to FILE (\'-\' is standard output)' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l html -d 'Write a page with pictures to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l svg -d 'Write the main picture to FILE, as SVG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l png -d 'Write the same picture to FILE, as PNG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l perfetto -d 'Write a trace for the Perfetto user interface to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l flamegraph -d 'Write flame graphs, on and off the CPU, to FILE (SVG)' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l folded -d 'Write folded stacks, on and off the CPU, to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l count-only -d 'Count system calls without timing them: about half the cost for each call (full level only)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l strict -d 'Fail (exit status 6) if anything of the trace was lost or does not fit together'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -s S -d 'The same as --shell=default'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -s N -d 'The same as --shell=none'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l as-root -d 'Under sudo, run the commands as root, and write files as root'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l keep-schedule -d 'Keep the scheduling records in the record, so that it can be analysed again'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l no-keep -d 'Do not keep the record for \'whyfaster show\''
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l json -d 'Print the record as JSON on standard output instead of the report'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l open -d 'Open the page in the browser (xdg-open)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand trace" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l by -d 'Take system calls together by: command, process or none [default: command]' -r -f -a "command\t'Those of one command'
process\t'Those of one process'
none\t'Those of the whole tree'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l top -d 'Show NUM rows of every table of a trace; 0 for all [default: 20]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l perfetto -d 'Write a trace for the Perfetto user interface to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l flamegraph -d 'Write flame graphs, on and off the CPU, to FILE (SVG)' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l folded -d 'Write folded stacks, on and off the CPU, to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l sort-calls -d 'Order of the table of system calls of a trace: time, calls, errors or name [default: time]' -r -f -a "time\t'The most time'
calls\t'The most calls'
errors\t'The most errors'
name\t'By the name of the call'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l style -d 'Colour and movement: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l sort -d 'Order of results: auto, command or mean-time' -r -f -a "auto\t'On the screen by time at a single level, and in the order of the command line when there are several, so that rows keep their place; in exported tables in the order of the command line'
command\t'In the order of the command line'
mean-time\t'By mean time'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -s u -l time-unit -d 'Show times in UNIT: microsecond, millisecond, second, minute or hour' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l export-asciidoc -d 'Write hyperfine\'s AsciiDoc table to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l export-json -d 'Write hyperfine\'s JSON to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l export-csv -d 'Write hyperfine\'s CSV to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l export-markdown -d 'Write hyperfine\'s Markdown table to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l export-orgmode -d 'Write hyperfine\'s Org table to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l export-format -d 'Write files as hyperfine1 or hyperfine2 does [default: hyperfine1]' -r -f -a "hyperfine1\t'hyperfine 1'
hyperfine2\t'hyperfine 2'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l list -d 'List the records that were kept, the last first'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l json -d 'Print it as JSON, with the analysis redone'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand show" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand report" -s o -l output -d 'Write the page to FILE (\'-\' is standard output) [default: report.html]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand report" -l svg -d 'Write the main picture to FILE, as SVG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand report" -l png -d 'Write the same picture to FILE, as PNG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand report" -s u -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand report" -l open -d 'Open the page in the browser (xdg-open)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand report" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand report" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand report" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l load -d 'Copies at once instead of the study\'s own levels, where it has several: a list such as 1,10' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l engines -d 'Only these engines of a study of engines: a list such as pool,xargs' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l max-time -d 'Begin nothing that would end after this time, such as 90s or 5m' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l seed -d 'Seed of the input and of the random order' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l flamegraphs -d 'Write a flame graph of each of the two commands in question into DIR' -r -f -a "(__fish_complete_directories)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l why -d 'Explain the difference: yes, observe (no experiments) or no' -r -f -a "yes\t'By observation and experiments'
observe\t'By observation alone'
no\t'Not at all'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l why-rounds -d 'Observe every alternative this many times [default: 3 to 22, until the causes are known]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l record -d 'Write the record, with every raw sample, to FILE (\'-\' is standard output)' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l html -d 'Write a page with pictures to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l svg -d 'Write the main picture to FILE, as SVG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l png -d 'Write the same picture to FILE, as PNG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l style -d 'Colour and movement: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l sort -d 'Order of results: auto, command or mean-time' -r -f -a "auto\t'On the screen by time at a single level, and in the order of the command line when there are several, so that rows keep their place; in exported tables in the order of the command line'
command\t'In the order of the command line'
mean-time\t'By mean time'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -s u -l time-unit -d 'Show times in UNIT: microsecond, millisecond, second, minute or hour' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l full -d 'Take the article\'s own sizes, or of a study of prices more repetitions: takes much longer'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l quick -d 'Take a smaller size, or of a study of prices less time'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l install -d 'Fetch what the engines need and this machine lacks into a directory of the user\'s cache; as an ordinary user'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l as-root -d 'Under sudo, run the commands as root, and write files as root'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l no-keep -d 'Do not keep the record for \'whyfaster show\''
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l json -d 'Print the record as JSON on standard output instead of the report'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l open -d 'Open the page in the browser (xdg-open)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand study" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l pin -d 'Run on these CPUs only, such as 0-3,5' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l inside -d 'Measure inside another kernel, behind an emulator, or on another machine' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l worker -d 'Use this worker instead of the one in this program, for another system or instruction set' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l silence -d 'Give up when nothing came from there for this long [default: 3m]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l on -d 'Measure on another machine, such as ssh:HOST' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l send -d 'Copy FILE into the directory over there in which the commands run' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l binary -d 'Use this whyfaster on machines of another instruction set' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l seed -d 'Seed of the random order [default: a fresh one]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l project -d 'Price counts of operations: \'30000 fork+execve\', several with \', \' between them, or a file with one a line' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l source -d 'Print the C source of a probe, as it is measured, and measure nothing' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l explain -d 'Print the page of a probe: what it measures, how, and what to make of it' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l record -d 'Write the price list, with every raw sample, to FILE (\'-\' is standard output)' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l export-csv -d 'Write the prices as comma-separated values to FILE (\'-\' is standard output)' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l html -d 'Write a page with pictures to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l svg -d 'Write the main picture to FILE, as SVG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l png -d 'Write the same picture to FILE, as PNG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l quick -d 'Take at most about ten seconds: fewer samples and rows, wider intervals; many rows get fewer repetitions'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l all -d 'Price every row that there is; of all groups that takes ten to fifteen minutes'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l list -d 'List the probes: their variants, what one operation is, what they need'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l fetch -d 'Download a kernel that is not in the cache, with apt and a state of our own'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l as-root -d 'Under sudo, run the commands as root, and write files as root'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l no-keep -d 'Do not keep the record for \'whyfaster show\''
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l json -d 'Print the price list as JSON on standard output instead of the report'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l open -d 'Open the page in the browser (xdg-open)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand prices" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l kernels -d 'Follow every price over these kernels: image files, DISTRIBUTION:VERSION, versions in the cache, or recorded lists' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l rows -d 'Groups or probes to follow over the kernels [default: getppid, fork, pipe and others of every group]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l delta -d 'Call two prices the same when they differ by less than this [default: 5%]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l project -d 'Price counts of operations on every machine: \'30000 fork+execve\', or a file with one count a line' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l html -d 'Write a page with pictures to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l svg -d 'Write the main picture to FILE, as SVG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l png -d 'Write the same picture to FILE, as PNG' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l fetch -d 'Download kernels that are not in the cache, with apt and a state of our own'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l all -d 'Show every row, also those that only one list has'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l json -d 'Print the comparison as JSON on standard output instead of the report'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l open -d 'Open the page in the browser (xdg-open)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand machines" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -f -a "compare" -d 'Compare commands on every machine of the places, and say where which is faster'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -f -a "prices" -d 'Price the operations of every machine of the places, and say how they differ'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -f -a "trace" -d 'Trace a command on every machine of the places'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -f -a "doctor" -d 'Say what every machine of the places allows, and how noisy it is'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -f -a "resume" -d 'Measure on the machines whose records a run lacks'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -f -a "report" -d 'Say how machines differ, which facts explain it, and which machines stand out'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and not __fish_seen_subcommand_from compare prices trace doctor resume report diff" -f -a "diff" -d 'Say what an update changed: every machine beside itself, before and after'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l to -d 'Bring the records home into DIR [default: a new directory fleet-DATE-TIME]' -r -f -a "(__fish_complete_directories)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l at-once -d 'Let at most NUM machines measure at once' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l silence -d 'Give a machine up when nothing came from it for TIME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l limit -d 'Give a machine up when it is not done after TIME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l send -d 'Copy FILE into the directory over there in which the commands run' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l binary -d 'Use this whyfaster on machines of another instruction set' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from compare" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l to -d 'Bring the records home into DIR [default: a new directory fleet-DATE-TIME]' -r -f -a "(__fish_complete_directories)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l at-once -d 'Let at most NUM machines measure at once' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l silence -d 'Give a machine up when nothing came from it for TIME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l limit -d 'Give a machine up when it is not done after TIME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l send -d 'Copy FILE into the directory over there in which the commands run' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l binary -d 'Use this whyfaster on machines of another instruction set' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from prices" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l to -d 'Bring the records home into DIR [default: a new directory fleet-DATE-TIME]' -r -f -a "(__fish_complete_directories)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l at-once -d 'Let at most NUM machines measure at once' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l silence -d 'Give a machine up when nothing came from it for TIME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l limit -d 'Give a machine up when it is not done after TIME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l send -d 'Copy FILE into the directory over there in which the commands run' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l binary -d 'Use this whyfaster on machines of another instruction set' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from trace" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l to -d 'Bring the records home into DIR [default: a new directory fleet-DATE-TIME]' -r -f -a "(__fish_complete_directories)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l at-once -d 'Let at most NUM machines measure at once' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l silence -d 'Give a machine up when nothing came from it for TIME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l limit -d 'Give a machine up when it is not done after TIME' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l send -d 'Copy FILE into the directory over there in which the commands run' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l binary -d 'Use this whyfaster on machines of another instruction set' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from doctor" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -l trust -d 'Resume a run that somebody else may have written'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from resume" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l only -d 'Take only comparisons in which a command, or its name, holds this text' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l since -d 'Records that were measured on this day or later, such as 2026-10-01 or 2026-10-01T12:30 (UTC)' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l until -d 'Records that were measured before this day or time' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l label -d 'Records that were added under this label' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l host -d 'Records of this machine; may be given several times' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l store -d 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l fail-if -d 'Exit with 3 if something in the fleet is above a limit' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l export-comparisons-csv -d 'Write what every machine says to every comparison to FILE as CSV' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l export-comparisons-parquet -d 'Write the same to FILE as Parquet' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l export-csv -d 'Write every price of every machine to FILE as CSV; of a diff, every row' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l export-parquet -d 'Write the same to FILE as Parquet' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l export-prometheus -d 'Write a file a machine into DIR for Prometheus\' textfile collector' -r -f -a "(__fish_complete_directories)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l html -d 'Write a page with pictures to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l fail-on-inconclusive -d 'Exit with 4 if a gate could not be decided'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l open -d 'Open the page in the browser (xdg-open)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l json -d 'Print everything as JSON on standard output instead of the report'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from report" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l store -d 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l delta -d 'Call a price unchanged when it changed by less than this' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l fail-if -d 'Exit with 3 if a price became dearer than allowed' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l export-csv -d 'Write every price of every machine to FILE as CSV; of a diff, every row' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l export-parquet -d 'Write the same to FILE as Parquet' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l export-prometheus -d 'Write a file a machine into DIR for Prometheus\' textfile collector' -r -f -a "(__fish_complete_directories)"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l html -d 'Write a page with pictures to FILE' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l fail-on-inconclusive -d 'Exit with 4 if a gate could not be decided'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l open -d 'Open the page in the browser (xdg-open)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l json -d 'Print everything as JSON on standard output instead of the report'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand fleet; and __fish_seen_subcommand_from diff" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and not __fish_seen_subcommand_from add list get remove" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and not __fish_seen_subcommand_from add list get remove" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and not __fish_seen_subcommand_from add list get remove" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and not __fish_seen_subcommand_from add list get remove" -f -a "add" -d 'Add records to the store: comparisons, price lists, traces'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and not __fish_seen_subcommand_from add list get remove" -f -a "list" -d 'List the records in the store, the latest first'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and not __fish_seen_subcommand_from add list get remove" -f -a "get" -d 'Print a record of the store as it was added, such as for: whyfaster show -'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and not __fish_seen_subcommand_from add list get remove" -f -a "remove" -d 'Remove records from the store'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from add" -l label -d 'Add them under this label, such as before or after, by which reports choose' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from add" -l store -d 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from add" -l name-by-file -d 'Call the machine by the file of its record, not by the name of the host: for clones that share one name'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from add" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from add" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from add" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l last -d 'List at most so many records' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l since -d 'Records that were measured on this day or later, such as 2026-10-01 or 2026-10-01T12:30 (UTC)' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l until -d 'Records that were measured before this day or time' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l label -d 'Records that were added under this label' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l host -d 'Records of this machine; may be given several times' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l store -d 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l json -d 'Print them as JSON on standard output'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from get" -l store -d 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from get" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from get" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from get" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from remove" -l store -d 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from remove" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand store; and __fish_seen_subcommand_from remove" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand doctor" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand doctor" -l json -d 'Print the facts as JSON'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand doctor" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand doctor" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand doctor" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand doctor" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l max-time -d 'Begin nothing that would end after this time, such as 90s [default: 50s]' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l record -d 'Write the record, with every raw sample, to FILE (\'-\' is standard output)' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l label -d 'The label that it is added under, such as before or after' -r
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l store -d 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]' -r -F
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l style -d 'Colour: auto, basic, full, nocolor, color or none [default: auto]' -r -f -a "auto\t'What the terminal can do'
basic\t'Neither colour nor movement'
full\t'Both, terminal or not'
nocolor\t'Movement without colour'
color\t'Colour without movement'
none\t'Nothing at all; exports and the exit status are the only result'"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l time-unit -d 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]' -r -f -a "microsecond\t''
millisecond\t''
second\t''
minute\t''
hour\t''"
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l as-root -d 'Under sudo, run the commands as root, and write files as root'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l no-keep -d 'Do not keep the record for \'whyfaster show\''
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l save -d 'Add the record to the store, where \'whyfaster fleet\' and \'whyfaster store\' find it'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l json -d 'Print the record as JSON on standard output instead of the report'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -s v -l verbose -d 'Print the tables too; -vv prints everything'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -s q -l quiet -d 'Print nothing but the answer in one sentence'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand demo" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand man" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand man" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand man" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand completions" -s h -l help -d 'Print the options that are used most'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand completions" -l help-all -d 'Print every option with its explanation'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand completions" -s V -l version -d 'Print version'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "compare" -d 'Say which of these commands is faster, and from what load on that changes'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "trace" -d 'Explain one command or pipeline: where the time of its whole process tree went'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "show" -d 'Print a record again, with the analysis redone'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "report" -d 'Make a page of a record, a trace or price lists: one file with every picture and number'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "study" -d 'List the studies, or run one: an article\'s measurement, repeated on this machine'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "prices" -d 'Price what this machine charges: system calls, processes, threads, pipes, page faults'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "machines" -d 'Set price lists side by side: which machine charges more, for what, and why'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "fleet" -d 'Ask the same of many machines: how they differ, by which facts, and which of them stand out'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "store" -d 'Keep records of many machines in a database, where \'fleet\' asks them'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "doctor" -d 'Say what this machine allows, how noisy it is, and what would help'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "demo" -d 'Show a pair of commands whose order flips from one copy to many, in less than 30 seconds'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "man" -d 'Show the manual: of whyfaster, or of one verb'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "completions" -d 'Print the completions for a shell'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and not __fish_seen_subcommand_from compare trace show report study prices machines fleet store doctor demo man completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from fleet" -f -a "compare" -d 'Compare commands on every machine of the places, and say where which is faster'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from fleet" -f -a "prices" -d 'Price the operations of every machine of the places, and say how they differ'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from fleet" -f -a "trace" -d 'Trace a command on every machine of the places'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from fleet" -f -a "doctor" -d 'Say what every machine of the places allows, and how noisy it is'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from fleet" -f -a "resume" -d 'Measure on the machines whose records a run lacks'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from fleet" -f -a "report" -d 'Say how machines differ, which facts explain it, and which machines stand out'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from fleet" -f -a "diff" -d 'Say what an update changed: every machine beside itself, before and after'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "add" -d 'Add records to the store: comparisons, price lists, traces'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "list" -d 'List the records in the store, the latest first'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "get" -d 'Print a record of the store as it was added, such as for: whyfaster show -'
complete -c whyfaster -n "__fish_whyfaster_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "remove" -d 'Remove records from the store'
