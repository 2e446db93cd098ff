
use builtin;
use str;

set edit:completion:arg-completer[whyfaster] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'whyfaster'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'whyfaster'= {
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
            cand compare 'Say which of these commands is faster, and from what load on that changes'
            cand trace 'Explain one command or pipeline: where the time of its whole process tree went'
            cand show 'Print a record again, with the analysis redone'
            cand study 'List the studies, or run one: an article''s measurement, repeated on this machine'
            cand prices 'Price what this machine charges: system calls, processes, threads, pipes, page faults'
            cand machines 'Set price lists side by side: which machine charges more, for what, and why'
            cand doctor 'Say what this machine allows, how noisy it is, and what would help'
            cand demo 'Show a pair of commands whose order flips from one copy to many, in less than 30 seconds'
            cand man 'Show the manual: of whyfaster, or of one verb'
            cand completions 'Print the completions for a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'whyfaster;compare'= {
            cand -w 'Run each command NUM times untimed first'
            cand --warmup 'Run each command NUM times untimed first'
            cand -m 'Run at least NUM rounds [default: 10]'
            cand --min-runs 'Run at least NUM rounds [default: 10]'
            cand -M 'Run at most NUM rounds [default: as many as the verdict needs]'
            cand --max-runs 'Run at most NUM rounds [default: as many as the verdict needs]'
            cand -r 'Run exactly NUM rounds'
            cand --runs 'Run exactly NUM rounds'
            cand -s 'Run CMD once before the first round'
            cand --setup 'Run CMD once before the first round'
            cand --reference 'Compare all others with CMD'
            cand --reference-name 'Call the reference command NAME'
            cand -p 'Run CMD before every timed run'
            cand --prepare 'Run CMD before every timed run'
            cand -C 'Run CMD after every timed run'
            cand --conclude 'Run CMD after every timed run'
            cand -c 'Run CMD once after the last round'
            cand --cleanup 'Run CMD once after the last round'
            cand -P 'Make an alternative of each number from MIN to MAX, put in for {VAR}'
            cand --parameter-scan 'Make an alternative of each number from MIN to MAX, put in for {VAR}'
            cand -D 'Go from MIN to MAX of --parameter-scan in steps of DELTA'
            cand --parameter-step-size 'Go from MIN to MAX of --parameter-scan in steps of DELTA'
            cand -L 'Put each of VALUES in for {VAR}'
            cand --parameter-list 'Put each of VALUES in for {VAR}'
            cand -i 'Go on when a command fails'
            cand --ignore-failure 'Go on when a command fails'
            cand --output 'Send what timed runs print to WHERE'
            cand -n 'Call a command NAME'
            cand --command-name 'Call a command NAME'
            cand -S 'Run commands with SHELL [default: sh]'
            cand --shell 'Run commands with SHELL [default: sh]'
            cand --input 'Let commands read from WHERE'
            cand --env 'Set environment variables'
            cand --min-benchmarking-time 'Accepted so that scripts written for hyperfine go on working; the statistics decide how long to measure'
            cand --style 'Colour and movement: auto, basic, full, nocolor, color or none [default: auto]'
            cand --sort 'Order of results: auto, command or mean-time'
            cand -u 'Show times in UNIT: microsecond, millisecond, second, minute or hour'
            cand --time-unit 'Show times in UNIT: microsecond, millisecond, second, minute or hour'
            cand --export-asciidoc 'Write hyperfine''s AsciiDoc table to FILE'
            cand --export-csv 'Write hyperfine''s CSV to FILE'
            cand --export-json 'Write hyperfine''s JSON to FILE'
            cand --export-markdown 'Write hyperfine''s Markdown table to FILE'
            cand --export-orgmode 'Write hyperfine''s Org table to FILE'
            cand --load 'Copies at once: a list such as 1,10,100, or ''auto'' [default: 1]'
            cand --mode 'How copies arrive: batch, closed or open [default: batch]'
            cand --rate 'Copies started a second, for --mode open'
            cand --duration 'How long copies are started, for --mode closed and open [default: 5s]'
            cand --max-time 'Begin nothing that would end after TIME'
            cand --delta 'Call a smaller difference none [default: 2%]'
            cand --confidence 'Confidence of all intervals together [default: 95%]'
            cand --seed 'Seed of the random order [default: a fresh one, kept in the record]'
            cand --timeout 'End a copy after TIME; it counts as too slow'
            cand --placement 'Sessions of the copies: session (each its own) or shared (one for all) [default: session]'
            cand --pin 'Run the copies on these CPUs only, such as 0-3,5'
            cand --why 'Explain the difference: yes, observe (no experiments) or no'
            cand --why-rounds 'Observe every alternative this many times [default: 7 to 15, as time allows]'
            cand --fail-if-slower 'Exit with 3 if one is slower'
            cand --record 'Write the record to FILE'
            cand --show-output 'Show what the commands print; the same as --output=inherit'
            cand -N 'The same as --shell=none'
            cand --no-check-output 'Do not compare what the alternatives print'
            cand --drop-caches 'Empty the page cache before every timed run (needs root)'
            cand --as-root 'Under sudo, run the commands as root too'
            cand --fail-on-inconclusive 'Exit with 4 if --fail-if-slower could not be decided'
            cand --json 'Print JSON instead of the report'
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;trace'= {
            cand --follow 'Observe a tree that runs already: a process id, or the directory of a cgroup'
            cand --duration 'End after this time, such as 10s; a command is ended with all that it started'
            cand --level 'Observe with: auto, full, ptrace, unprivileged or rusage [default: auto]'
            cand --untraced-runs 'Run the command NUM times more, untraced, to see what tracing cost; 0 for never [default: 3, within 10 s]'
            cand --ring-size 'Size of the buffer between kernel and whyfaster, a power of two such as 16M [default: 16M]'
            cand --sample-rate 'Take the stack of what runs NUM times a second on every CPU [default with --flamegraph or --folded: 499]'
            cand -S 'Run commands with SHELL [default: sh]'
            cand --shell 'Run commands with SHELL [default: sh]'
            cand --input 'Let commands read from WHERE'
            cand --env 'Set environment variables'
            cand --output 'Send what the command prints to WHERE: inherit, null, or a file [default: inherit]'
            cand --pin 'Run the command on these CPUs only, such as 0-3,5'
            cand --by 'Take system calls together by: command, process or none [default: command]'
            cand --top 'Show NUM rows of every table of a trace; 0 for all [default: 20]'
            cand --sort 'Order of the table of system calls: time, calls, errors or name [default: time]'
            cand --calls 'Print system calls as they happen, on standard error: all, or those named, such as ''openat,read'''
            cand --style 'Colour: auto, basic, full, nocolor, color or none [default: auto]'
            cand -u 'Show times in UNIT: microsecond, millisecond, second, minute or hour'
            cand --time-unit 'Show times in UNIT: microsecond, millisecond, second, minute or hour'
            cand --record 'Write the record to FILE (''-'' is standard output)'
            cand --perfetto 'Write a trace for the Perfetto user interface to FILE'
            cand --flamegraph 'Write flame graphs, on and off the CPU, to FILE (SVG)'
            cand --folded 'Write folded stacks, on and off the CPU, to FILE'
            cand --count-only 'Count system calls without timing them: about half the cost for each call (full level only)'
            cand --strict 'Fail (exit status 6) if anything of the trace was lost or does not fit together'
            cand -N 'The same as --shell=none'
            cand --as-root 'Under sudo, run the commands as root too'
            cand --keep-schedule 'Keep the scheduling records in the record, so that it can be analysed again'
            cand --json 'Print the record as JSON on standard output instead of the report'
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;show'= {
            cand --by 'Take system calls together by: command, process or none [default: command]'
            cand --top 'Show NUM rows of every table of a trace; 0 for all [default: 20]'
            cand --perfetto 'Write a trace for the Perfetto user interface to FILE'
            cand --flamegraph 'Write flame graphs, on and off the CPU, to FILE (SVG)'
            cand --folded 'Write folded stacks, on and off the CPU, to FILE'
            cand --sort-calls 'Order of the table of system calls of a trace: time, calls, errors or name [default: time]'
            cand --style 'Colour and movement: auto, basic, full, nocolor, color or none [default: auto]'
            cand --sort 'Order of results: auto, command or mean-time'
            cand -u 'Show times in UNIT: microsecond, millisecond, second, minute or hour'
            cand --time-unit 'Show times in UNIT: microsecond, millisecond, second, minute or hour'
            cand --export-asciidoc 'Write hyperfine''s AsciiDoc table to FILE'
            cand --export-csv 'Write hyperfine''s CSV to FILE'
            cand --export-json 'Write hyperfine''s JSON to FILE'
            cand --export-markdown 'Write hyperfine''s Markdown table to FILE'
            cand --export-orgmode 'Write hyperfine''s Org table to FILE'
            cand --json 'Print it as JSON, with the analysis redone'
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;study'= {
            cand --load 'Copies at once instead of the study''s own levels: a list such as 1,10'
            cand --with 'Set these price lists beside the article''s, each in a column of its own (study threads, study syscalls)'
            cand --max-time 'Begin nothing that would end after this time, such as 90s or 5m'
            cand --seed 'Seed of the input and of the random order'
            cand --flamegraphs 'Write a flame graph of each of the two alternatives in question into DIR (study placement)'
            cand --why 'Explain the difference: yes, observe (no experiments) or no'
            cand --why-rounds 'Observe every alternative this many times [default: 7 to 15, as time allows]'
            cand --record 'Write the record, with every raw sample, to FILE (''-'' is standard output)'
            cand --style 'Colour and movement: auto, basic, full, nocolor, color or none [default: auto]'
            cand --sort 'Order of results: auto, command or mean-time'
            cand -u 'Show times in UNIT: microsecond, millisecond, second, minute or hour'
            cand --time-unit 'Show times in UNIT: microsecond, millisecond, second, minute or hour'
            cand --full 'Take the article''s own sizes, or of a study of prices more repetitions: takes much longer'
            cand --quick 'Take a smaller size (study dispatch, study placement)'
            cand --as-root 'Under sudo, run the commands as root too'
            cand --json 'Print the record as JSON on standard output instead of the report'
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;prices'= {
            cand --pin 'Run on these CPUs only, such as 0-3,5'
            cand --inside 'Measure inside another kernel, behind an emulator, or on another machine'
            cand --worker 'Use this worker instead of the one in this program, for another system or instruction set'
            cand --silence 'Give up when nothing came from there for this long [default: 3m]'
            cand --seed 'Seed of the random order [default: a fresh one]'
            cand --project 'Price counts of operations: ''30000 fork+execve'', several with '', '' between them, or a file with one a line'
            cand --source 'Print the C source of a probe, as it is measured, and measure nothing'
            cand --explain 'Print the page of a probe: what it measures, how, and what to make of it'
            cand --record 'Write the price list, with every raw sample, to FILE (''-'' is standard output)'
            cand --csv 'Write the prices as comma-separated values to FILE (''-'' is standard output)'
            cand --style 'Colour: auto, basic, full, nocolor, color or none [default: auto]'
            cand --time-unit 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]'
            cand --quick 'Take at most about ten seconds: fewer samples and rows, wider intervals; many rows get fewer repetitions'
            cand --all 'Price every row that there is; of all groups that takes ten to fifteen minutes'
            cand --list 'List the probes: their variants, what one operation is, what they need'
            cand --fetch 'Download a kernel that is not in the cache, with apt and a state of our own'
            cand --json 'Print the price list as JSON on standard output instead of the report'
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;machines'= {
            cand --kernels 'Follow every price over these kernels: image files, DISTRIBUTION:VERSION, versions in the cache, or recorded lists'
            cand --rows 'Groups or probes to follow over the kernels [default: getppid, fork, pipe and others of every group]'
            cand --delta 'Call two prices the same when they differ by less than this [default: 5%]'
            cand --project 'Price counts of operations on every machine: ''30000 fork+execve'', or a file with one count a line'
            cand --style 'Colour: auto, basic, full, nocolor, color or none [default: auto]'
            cand --time-unit 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]'
            cand --fetch 'Download kernels that are not in the cache, with apt and a state of our own'
            cand --all 'Show every row, also those that only one list has'
            cand --json 'Print the comparison as JSON on standard output instead of the report'
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;doctor'= {
            cand --style 'Colour: auto, basic, full, nocolor, color or none [default: auto]'
            cand --json 'Print the facts as JSON'
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;demo'= {
            cand --max-time 'Begin nothing that would end after this time, such as 60s [default: 20s]'
            cand --record 'Write the record, with every raw sample, to FILE (''-'' is standard output)'
            cand --style 'Colour: auto, basic, full, nocolor, color or none [default: auto]'
            cand --time-unit 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]'
            cand --as-root 'Under sudo, run the commands as root too'
            cand --json 'Print the record as JSON on standard output instead of the report'
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;man'= {
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;completions'= {
            cand -h 'Print the options that are used most'
            cand --help 'Print the options that are used most'
            cand --help-all 'Print every option with its explanation'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'whyfaster;help'= {
            cand compare 'Say which of these commands is faster, and from what load on that changes'
            cand trace 'Explain one command or pipeline: where the time of its whole process tree went'
            cand show 'Print a record again, with the analysis redone'
            cand study 'List the studies, or run one: an article''s measurement, repeated on this machine'
            cand prices 'Price what this machine charges: system calls, processes, threads, pipes, page faults'
            cand machines 'Set price lists side by side: which machine charges more, for what, and why'
            cand doctor 'Say what this machine allows, how noisy it is, and what would help'
            cand demo 'Show a pair of commands whose order flips from one copy to many, in less than 30 seconds'
            cand man 'Show the manual: of whyfaster, or of one verb'
            cand completions 'Print the completions for a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'whyfaster;help;compare'= {
        }
        &'whyfaster;help;trace'= {
        }
        &'whyfaster;help;show'= {
        }
        &'whyfaster;help;study'= {
        }
        &'whyfaster;help;prices'= {
        }
        &'whyfaster;help;machines'= {
        }
        &'whyfaster;help;doctor'= {
        }
        &'whyfaster;help;demo'= {
        }
        &'whyfaster;help;man'= {
        }
        &'whyfaster;help;completions'= {
        }
        &'whyfaster;help;help'= {
        }
    ]
    $completions[$command]
}
