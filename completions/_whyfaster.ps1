
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'whyfaster' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'whyfaster'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'whyfaster' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Say which of these commands is faster, and from what load on that changes')
            [CompletionResult]::new('trace', 'trace', [CompletionResultType]::ParameterValue, 'Explain one command or pipeline: where the time of its whole process tree went')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print a record again, with the analysis redone')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Make a page of a record, a trace or price lists: one file with every picture and number')
            [CompletionResult]::new('study', 'study', [CompletionResultType]::ParameterValue, 'List the studies, or run one: an article''s measurement, repeated on this machine')
            [CompletionResult]::new('prices', 'prices', [CompletionResultType]::ParameterValue, 'Price what this machine charges: system calls, processes, threads, pipes, page faults')
            [CompletionResult]::new('machines', 'machines', [CompletionResultType]::ParameterValue, 'Set price lists side by side: which machine charges more, for what, and why')
            [CompletionResult]::new('fleet', 'fleet', [CompletionResultType]::ParameterValue, 'Ask the same of many machines: how they differ, by which facts, and which of them stand out')
            [CompletionResult]::new('store', 'store', [CompletionResultType]::ParameterValue, 'Keep records of many machines in a database, where ''fleet'' asks them')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say what this machine allows, how noisy it is, and what would help')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Show a pair of commands whose order flips from one copy to many, in less than 30 seconds')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Show the manual: of whyfaster, or of one verb')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions for a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'whyfaster;compare' {
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Run each command NUM times untimed first')
            [CompletionResult]::new('--warmup', '--warmup', [CompletionResultType]::ParameterName, 'Run each command NUM times untimed first')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'Run at least NUM rounds [default: as many as an interval needs; of a single command 10]')
            [CompletionResult]::new('--min-runs', '--min-runs', [CompletionResultType]::ParameterName, 'Run at least NUM rounds [default: as many as an interval needs; of a single command 10]')
            [CompletionResult]::new('-M', '-M ', [CompletionResultType]::ParameterName, 'Run at most NUM rounds [default: as many as the verdict needs]')
            [CompletionResult]::new('--max-runs', '--max-runs', [CompletionResultType]::ParameterName, 'Run at most NUM rounds [default: as many as the verdict needs]')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Run each exactly NUM times, and nothing else')
            [CompletionResult]::new('--runs', '--runs', [CompletionResultType]::ParameterName, 'Run each exactly NUM times, and nothing else')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Run CMD once before the first round')
            [CompletionResult]::new('--setup', '--setup', [CompletionResultType]::ParameterName, 'Run CMD once before the first round')
            [CompletionResult]::new('--reference', '--reference', [CompletionResultType]::ParameterName, 'Compare all others with CMD')
            [CompletionResult]::new('--reference-name', '--reference-name', [CompletionResultType]::ParameterName, 'Call the reference command NAME')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'Run CMD before every timed run')
            [CompletionResult]::new('--prepare', '--prepare', [CompletionResultType]::ParameterName, 'Run CMD before every timed run')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run CMD after every timed run')
            [CompletionResult]::new('--conclude', '--conclude', [CompletionResultType]::ParameterName, 'Run CMD after every timed run')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Run CMD once after the last round')
            [CompletionResult]::new('--cleanup', '--cleanup', [CompletionResultType]::ParameterName, 'Run CMD once after the last round')
            [CompletionResult]::new('-P', '-P ', [CompletionResultType]::ParameterName, 'Make an alternative of each number from MIN to MAX, put in for {VAR}')
            [CompletionResult]::new('--parameter-scan', '--parameter-scan', [CompletionResultType]::ParameterName, 'Make an alternative of each number from MIN to MAX, put in for {VAR}')
            [CompletionResult]::new('-D', '-D ', [CompletionResultType]::ParameterName, 'Go from MIN to MAX of --parameter-scan in steps of DELTA')
            [CompletionResult]::new('--parameter-step-size', '--parameter-step-size', [CompletionResultType]::ParameterName, 'Go from MIN to MAX of --parameter-scan in steps of DELTA')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Put each of VALUES in for {VAR}')
            [CompletionResult]::new('--parameter-list', '--parameter-list', [CompletionResultType]::ParameterName, 'Put each of VALUES in for {VAR}')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Go on when a command fails')
            [CompletionResult]::new('--ignore-failure', '--ignore-failure', [CompletionResultType]::ParameterName, 'Go on when a command fails')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Send what timed runs print to WHERE')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Call a command NAME')
            [CompletionResult]::new('--command-name', '--command-name', [CompletionResultType]::ParameterName, 'Call a command NAME')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'Run commands with SHELL [default: sh]')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'Let commands read from WHERE')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set environment variables')
            [CompletionResult]::new('--min-benchmarking-time', '--min-benchmarking-time', [CompletionResultType]::ParameterName, 'Accepted so that scripts written for hyperfine go on working; the statistics decide how long to measure')
            [CompletionResult]::new('--metrics', '--metrics', [CompletionResultType]::ParameterName, 'Compare metrics: default, time, all, or a list')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour and movement: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Order of results: auto, command or mean-time')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Show times in UNIT: microsecond, millisecond, second, minute or hour')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Show times in UNIT: microsecond, millisecond, second, minute or hour')
            [CompletionResult]::new('--export-asciidoc', '--export-asciidoc', [CompletionResultType]::ParameterName, 'Write hyperfine''s AsciiDoc table to FILE')
            [CompletionResult]::new('--export-json', '--export-json', [CompletionResultType]::ParameterName, 'Write hyperfine''s JSON to FILE')
            [CompletionResult]::new('--export-csv', '--export-csv', [CompletionResultType]::ParameterName, 'Write hyperfine''s CSV to FILE')
            [CompletionResult]::new('--export-markdown', '--export-markdown', [CompletionResultType]::ParameterName, 'Write hyperfine''s Markdown table to FILE')
            [CompletionResult]::new('--export-orgmode', '--export-orgmode', [CompletionResultType]::ParameterName, 'Write hyperfine''s Org table to FILE')
            [CompletionResult]::new('--export-format', '--export-format', [CompletionResultType]::ParameterName, 'Write files as hyperfine1 or hyperfine2 does [default: hyperfine1]')
            [CompletionResult]::new('--load', '--load', [CompletionResultType]::ParameterName, 'Copies at once, such as 1,10,100, or auto [default: 1]')
            [CompletionResult]::new('--mode', '--mode', [CompletionResultType]::ParameterName, 'How copies arrive: batch, closed or open [default: batch]')
            [CompletionResult]::new('--rate', '--rate', [CompletionResultType]::ParameterName, 'Copies started a second, for --mode open')
            [CompletionResult]::new('--duration', '--duration', [CompletionResultType]::ParameterName, 'How long copies are started, for --mode closed and open [default: 5s]')
            [CompletionResult]::new('--max-time', '--max-time', [CompletionResultType]::ParameterName, 'Begin nothing that would end after TIME')
            [CompletionResult]::new('--delta', '--delta', [CompletionResultType]::ParameterName, 'Call a smaller difference none [default: 2%]')
            [CompletionResult]::new('--confidence', '--confidence', [CompletionResultType]::ParameterName, 'Confidence of all intervals together [default: 95%]')
            [CompletionResult]::new('--pace', '--pace', [CompletionResultType]::ParameterName, 'Cancel changes of the CPU''s speed: auto, on or off [default: auto]')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the random order [default: a fresh one, kept in the record]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End a copy after TIME; it counts as too slow')
            [CompletionResult]::new('--check-output', '--check-output', [CompletionResultType]::ParameterName, 'What to do if outputs differ: report or strict [default: report]')
            [CompletionResult]::new('--placement', '--placement', [CompletionResultType]::ParameterName, 'Sessions of the copies: session (each its own) or shared (one for all) [default: session]')
            [CompletionResult]::new('--pin', '--pin', [CompletionResultType]::ParameterName, 'Run the copies on these CPUs only, such as 0-3,5')
            [CompletionResult]::new('--why', '--why', [CompletionResultType]::ParameterName, 'Explain the difference: yes, observe (no experiments) or no')
            [CompletionResult]::new('--why-rounds', '--why-rounds', [CompletionResultType]::ParameterName, 'Observe every alternative this many times [default: 3 to 22, until the causes are known]')
            [CompletionResult]::new('--on', '--on', [CompletionResultType]::ParameterName, 'Measure on another machine, such as ssh:HOST')
            [CompletionResult]::new('--send', '--send', [CompletionResultType]::ParameterName, 'Copy FILE into the directory over there in which the commands run')
            [CompletionResult]::new('--binary', '--binary', [CompletionResultType]::ParameterName, 'Use this whyfaster on machines of another instruction set')
            [CompletionResult]::new('--fail-if-slower', '--fail-if-slower', [CompletionResultType]::ParameterName, 'Exit with 3 if one is slower')
            [CompletionResult]::new('--fail-if', '--fail-if', [CompletionResultType]::ParameterName, 'Exit with 3 if a metric is above a limit')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write the record to FILE')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write a page with pictures to FILE')
            [CompletionResult]::new('--svg', '--svg', [CompletionResultType]::ParameterName, 'Write the main picture to FILE, as SVG')
            [CompletionResult]::new('--png', '--png', [CompletionResultType]::ParameterName, 'Write the same picture to FILE, as PNG')
            [CompletionResult]::new('--show-output', '--show-output', [CompletionResultType]::ParameterName, 'Show what the commands print; the same as --output=inherit')
            [CompletionResult]::new('-S', '-S ', [CompletionResultType]::ParameterName, 'The same as --shell=default')
            [CompletionResult]::new('-N', '-N ', [CompletionResultType]::ParameterName, 'The same as --shell=none')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--no-check-output', '--no-check-output', [CompletionResultType]::ParameterName, 'Do not compare what the alternatives print')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print what would run, and run nothing')
            [CompletionResult]::new('--keep-daemons', '--keep-daemons', [CompletionResultType]::ParameterName, 'Leave running what a command started')
            [CompletionResult]::new('--drop-caches', '--drop-caches', [CompletionResultType]::ParameterName, 'Empty the page cache before every timed run (needs root)')
            [CompletionResult]::new('--as-root', '--as-root', [CompletionResultType]::ParameterName, 'Under sudo, run the commands as root, and write files as root')
            [CompletionResult]::new('--fail-on-inconclusive', '--fail-on-inconclusive', [CompletionResultType]::ParameterName, 'Exit with 4 if a gate could not be decided')
            [CompletionResult]::new('--no-keep', '--no-keep', [CompletionResultType]::ParameterName, 'Do not keep the record for ''whyfaster show''')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of the report')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Open the page in the browser (xdg-open)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;trace' {
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Observe a tree that runs already: a process id, or the directory of a cgroup')
            [CompletionResult]::new('--duration', '--duration', [CompletionResultType]::ParameterName, 'End after this time, such as 10s; a command is ended with all that it started')
            [CompletionResult]::new('--level', '--level', [CompletionResultType]::ParameterName, 'Observe with: auto, full, ptrace, unprivileged or rusage [default: auto]')
            [CompletionResult]::new('--untraced-runs', '--untraced-runs', [CompletionResultType]::ParameterName, 'Run the command NUM times more, untraced, to see what tracing cost; 0 for never [default: 3, within 10 s]')
            [CompletionResult]::new('--ring-size', '--ring-size', [CompletionResultType]::ParameterName, 'Size of the buffer between kernel and whyfaster, a power of two such as 16M [default: 16M]')
            [CompletionResult]::new('--sample-rate', '--sample-rate', [CompletionResultType]::ParameterName, 'Take the stack of what runs NUM times a second on every CPU [default with --flamegraph or --folded: 499]')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'Run commands with SHELL [default: sh]')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'Let commands read from WHERE')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set environment variables')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Send what the command prints to WHERE: inherit, null, or a file [default: inherit]')
            [CompletionResult]::new('--pin', '--pin', [CompletionResultType]::ParameterName, 'Run the command on these CPUs only, such as 0-3,5')
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'Take system calls together by: command, process or none [default: command]')
            [CompletionResult]::new('--top', '--top', [CompletionResultType]::ParameterName, 'Show NUM rows of every table of a trace; 0 for all [default: 20]')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Order of the table of system calls: time, calls, errors or name [default: time]')
            [CompletionResult]::new('--calls', '--calls', [CompletionResultType]::ParameterName, 'Print system calls as they happen, on standard error: all, or those named, such as ''openat,read''')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Show times in UNIT: microsecond, millisecond, second, minute or hour')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Show times in UNIT: microsecond, millisecond, second, minute or hour')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write the record to FILE (''-'' is standard output)')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write a page with pictures to FILE')
            [CompletionResult]::new('--svg', '--svg', [CompletionResultType]::ParameterName, 'Write the main picture to FILE, as SVG')
            [CompletionResult]::new('--png', '--png', [CompletionResultType]::ParameterName, 'Write the same picture to FILE, as PNG')
            [CompletionResult]::new('--perfetto', '--perfetto', [CompletionResultType]::ParameterName, 'Write a trace for the Perfetto user interface to FILE')
            [CompletionResult]::new('--flamegraph', '--flamegraph', [CompletionResultType]::ParameterName, 'Write flame graphs, on and off the CPU, to FILE (SVG)')
            [CompletionResult]::new('--folded', '--folded', [CompletionResultType]::ParameterName, 'Write folded stacks, on and off the CPU, to FILE')
            [CompletionResult]::new('--count-only', '--count-only', [CompletionResultType]::ParameterName, 'Count system calls without timing them: about half the cost for each call (full level only)')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Fail (exit status 6) if anything of the trace was lost or does not fit together')
            [CompletionResult]::new('-S', '-S ', [CompletionResultType]::ParameterName, 'The same as --shell=default')
            [CompletionResult]::new('-N', '-N ', [CompletionResultType]::ParameterName, 'The same as --shell=none')
            [CompletionResult]::new('--as-root', '--as-root', [CompletionResultType]::ParameterName, 'Under sudo, run the commands as root, and write files as root')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--keep-schedule', '--keep-schedule', [CompletionResultType]::ParameterName, 'Keep the scheduling records in the record, so that it can be analysed again')
            [CompletionResult]::new('--no-keep', '--no-keep', [CompletionResultType]::ParameterName, 'Do not keep the record for ''whyfaster show''')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the record as JSON on standard output instead of the report')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Open the page in the browser (xdg-open)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;show' {
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'Take system calls together by: command, process or none [default: command]')
            [CompletionResult]::new('--top', '--top', [CompletionResultType]::ParameterName, 'Show NUM rows of every table of a trace; 0 for all [default: 20]')
            [CompletionResult]::new('--perfetto', '--perfetto', [CompletionResultType]::ParameterName, 'Write a trace for the Perfetto user interface to FILE')
            [CompletionResult]::new('--flamegraph', '--flamegraph', [CompletionResultType]::ParameterName, 'Write flame graphs, on and off the CPU, to FILE (SVG)')
            [CompletionResult]::new('--folded', '--folded', [CompletionResultType]::ParameterName, 'Write folded stacks, on and off the CPU, to FILE')
            [CompletionResult]::new('--sort-calls', '--sort-calls', [CompletionResultType]::ParameterName, 'Order of the table of system calls of a trace: time, calls, errors or name [default: time]')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour and movement: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Order of results: auto, command or mean-time')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Show times in UNIT: microsecond, millisecond, second, minute or hour')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Show times in UNIT: microsecond, millisecond, second, minute or hour')
            [CompletionResult]::new('--export-asciidoc', '--export-asciidoc', [CompletionResultType]::ParameterName, 'Write hyperfine''s AsciiDoc table to FILE')
            [CompletionResult]::new('--export-json', '--export-json', [CompletionResultType]::ParameterName, 'Write hyperfine''s JSON to FILE')
            [CompletionResult]::new('--export-csv', '--export-csv', [CompletionResultType]::ParameterName, 'Write hyperfine''s CSV to FILE')
            [CompletionResult]::new('--export-markdown', '--export-markdown', [CompletionResultType]::ParameterName, 'Write hyperfine''s Markdown table to FILE')
            [CompletionResult]::new('--export-orgmode', '--export-orgmode', [CompletionResultType]::ParameterName, 'Write hyperfine''s Org table to FILE')
            [CompletionResult]::new('--export-format', '--export-format', [CompletionResultType]::ParameterName, 'Write files as hyperfine1 or hyperfine2 does [default: hyperfine1]')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List the records that were kept, the last first')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print it as JSON, with the analysis redone')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;report' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the page to FILE (''-'' is standard output) [default: report.html]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the page to FILE (''-'' is standard output) [default: report.html]')
            [CompletionResult]::new('--svg', '--svg', [CompletionResultType]::ParameterName, 'Write the main picture to FILE, as SVG')
            [CompletionResult]::new('--png', '--png', [CompletionResultType]::ParameterName, 'Write the same picture to FILE, as PNG')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Open the page in the browser (xdg-open)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;study' {
            [CompletionResult]::new('--load', '--load', [CompletionResultType]::ParameterName, 'Copies at once instead of the study''s own levels, where it has several: a list such as 1,10')
            [CompletionResult]::new('--engines', '--engines', [CompletionResultType]::ParameterName, 'Only these engines of a study of engines: a list such as pool,xargs')
            [CompletionResult]::new('--max-time', '--max-time', [CompletionResultType]::ParameterName, 'Begin nothing that would end after this time, such as 90s or 5m')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the input and of the random order')
            [CompletionResult]::new('--flamegraphs', '--flamegraphs', [CompletionResultType]::ParameterName, 'Write a flame graph of each of the two commands in question into DIR')
            [CompletionResult]::new('--why', '--why', [CompletionResultType]::ParameterName, 'Explain the difference: yes, observe (no experiments) or no')
            [CompletionResult]::new('--why-rounds', '--why-rounds', [CompletionResultType]::ParameterName, 'Observe every alternative this many times [default: 3 to 22, until the causes are known]')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write the record, with every raw sample, to FILE (''-'' is standard output)')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write a page with pictures to FILE')
            [CompletionResult]::new('--svg', '--svg', [CompletionResultType]::ParameterName, 'Write the main picture to FILE, as SVG')
            [CompletionResult]::new('--png', '--png', [CompletionResultType]::ParameterName, 'Write the same picture to FILE, as PNG')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour and movement: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Order of results: auto, command or mean-time')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Show times in UNIT: microsecond, millisecond, second, minute or hour')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Show times in UNIT: microsecond, millisecond, second, minute or hour')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Take the article''s own sizes, or of a study of prices more repetitions: takes much longer')
            [CompletionResult]::new('--quick', '--quick', [CompletionResultType]::ParameterName, 'Take a smaller size, or of a study of prices less time')
            [CompletionResult]::new('--install', '--install', [CompletionResultType]::ParameterName, 'Fetch what the engines need and this machine lacks into a directory of the user''s cache; as an ordinary user')
            [CompletionResult]::new('--as-root', '--as-root', [CompletionResultType]::ParameterName, 'Under sudo, run the commands as root, and write files as root')
            [CompletionResult]::new('--no-keep', '--no-keep', [CompletionResultType]::ParameterName, 'Do not keep the record for ''whyfaster show''')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the record as JSON on standard output instead of the report')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Open the page in the browser (xdg-open)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;prices' {
            [CompletionResult]::new('--pin', '--pin', [CompletionResultType]::ParameterName, 'Run on these CPUs only, such as 0-3,5')
            [CompletionResult]::new('--inside', '--inside', [CompletionResultType]::ParameterName, 'Measure inside another kernel, behind an emulator, or on another machine')
            [CompletionResult]::new('--worker', '--worker', [CompletionResultType]::ParameterName, 'Use this worker instead of the one in this program, for another system or instruction set')
            [CompletionResult]::new('--silence', '--silence', [CompletionResultType]::ParameterName, 'Give up when nothing came from there for this long [default: 3m]')
            [CompletionResult]::new('--on', '--on', [CompletionResultType]::ParameterName, 'Measure on another machine, such as ssh:HOST')
            [CompletionResult]::new('--send', '--send', [CompletionResultType]::ParameterName, 'Copy FILE into the directory over there in which the commands run')
            [CompletionResult]::new('--binary', '--binary', [CompletionResultType]::ParameterName, 'Use this whyfaster on machines of another instruction set')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the random order [default: a fresh one]')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'Price counts of operations: ''30000 fork+execve'', several with '', '' between them, or a file with one a line')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'Print the C source of a probe, as it is measured, and measure nothing')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Print the page of a probe: what it measures, how, and what to make of it')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write the price list, with every raw sample, to FILE (''-'' is standard output)')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--export-csv', '--export-csv', [CompletionResultType]::ParameterName, 'Write the prices as comma-separated values to FILE (''-'' is standard output)')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write a page with pictures to FILE')
            [CompletionResult]::new('--svg', '--svg', [CompletionResultType]::ParameterName, 'Write the main picture to FILE, as SVG')
            [CompletionResult]::new('--png', '--png', [CompletionResultType]::ParameterName, 'Write the same picture to FILE, as PNG')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--quick', '--quick', [CompletionResultType]::ParameterName, 'Take at most about ten seconds: fewer samples and rows, wider intervals; many rows get fewer repetitions')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Price every row that there is; of all groups that takes ten to fifteen minutes')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List the probes: their variants, what one operation is, what they need')
            [CompletionResult]::new('--fetch', '--fetch', [CompletionResultType]::ParameterName, 'Download a kernel that is not in the cache, with apt and a state of our own')
            [CompletionResult]::new('--as-root', '--as-root', [CompletionResultType]::ParameterName, 'Under sudo, run the commands as root, and write files as root')
            [CompletionResult]::new('--no-keep', '--no-keep', [CompletionResultType]::ParameterName, 'Do not keep the record for ''whyfaster show''')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the price list as JSON on standard output instead of the report')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Open the page in the browser (xdg-open)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;machines' {
            [CompletionResult]::new('--kernels', '--kernels', [CompletionResultType]::ParameterName, 'Follow every price over these kernels: image files, DISTRIBUTION:VERSION, versions in the cache, or recorded lists')
            [CompletionResult]::new('--rows', '--rows', [CompletionResultType]::ParameterName, 'Groups or probes to follow over the kernels [default: getppid, fork, pipe and others of every group]')
            [CompletionResult]::new('--delta', '--delta', [CompletionResultType]::ParameterName, 'Call two prices the same when they differ by less than this [default: 5%]')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'Price counts of operations on every machine: ''30000 fork+execve'', or a file with one count a line')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write a page with pictures to FILE')
            [CompletionResult]::new('--svg', '--svg', [CompletionResultType]::ParameterName, 'Write the main picture to FILE, as SVG')
            [CompletionResult]::new('--png', '--png', [CompletionResultType]::ParameterName, 'Write the same picture to FILE, as PNG')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--fetch', '--fetch', [CompletionResultType]::ParameterName, 'Download kernels that are not in the cache, with apt and a state of our own')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show every row, also those that only one list has')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the comparison as JSON on standard output instead of the report')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Open the page in the browser (xdg-open)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;fleet' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Compare commands on every machine of the places, and say where which is faster')
            [CompletionResult]::new('prices', 'prices', [CompletionResultType]::ParameterValue, 'Price the operations of every machine of the places, and say how they differ')
            [CompletionResult]::new('trace', 'trace', [CompletionResultType]::ParameterValue, 'Trace a command on every machine of the places')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say what every machine of the places allows, and how noisy it is')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Measure on the machines whose records a run lacks')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Say how machines differ, which facts explain it, and which machines stand out')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Say what an update changed: every machine beside itself, before and after')
            break
        }
        'whyfaster;fleet;compare' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Bring the records home into DIR [default: a new directory fleet-DATE-TIME]')
            [CompletionResult]::new('--at-once', '--at-once', [CompletionResultType]::ParameterName, 'Let at most NUM machines measure at once')
            [CompletionResult]::new('--silence', '--silence', [CompletionResultType]::ParameterName, 'Give a machine up when nothing came from it for TIME')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Give a machine up when it is not done after TIME')
            [CompletionResult]::new('--send', '--send', [CompletionResultType]::ParameterName, 'Copy FILE into the directory over there in which the commands run')
            [CompletionResult]::new('--binary', '--binary', [CompletionResultType]::ParameterName, 'Use this whyfaster on machines of another instruction set')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;fleet;prices' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Bring the records home into DIR [default: a new directory fleet-DATE-TIME]')
            [CompletionResult]::new('--at-once', '--at-once', [CompletionResultType]::ParameterName, 'Let at most NUM machines measure at once')
            [CompletionResult]::new('--silence', '--silence', [CompletionResultType]::ParameterName, 'Give a machine up when nothing came from it for TIME')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Give a machine up when it is not done after TIME')
            [CompletionResult]::new('--send', '--send', [CompletionResultType]::ParameterName, 'Copy FILE into the directory over there in which the commands run')
            [CompletionResult]::new('--binary', '--binary', [CompletionResultType]::ParameterName, 'Use this whyfaster on machines of another instruction set')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;fleet;trace' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Bring the records home into DIR [default: a new directory fleet-DATE-TIME]')
            [CompletionResult]::new('--at-once', '--at-once', [CompletionResultType]::ParameterName, 'Let at most NUM machines measure at once')
            [CompletionResult]::new('--silence', '--silence', [CompletionResultType]::ParameterName, 'Give a machine up when nothing came from it for TIME')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Give a machine up when it is not done after TIME')
            [CompletionResult]::new('--send', '--send', [CompletionResultType]::ParameterName, 'Copy FILE into the directory over there in which the commands run')
            [CompletionResult]::new('--binary', '--binary', [CompletionResultType]::ParameterName, 'Use this whyfaster on machines of another instruction set')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;fleet;doctor' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Bring the records home into DIR [default: a new directory fleet-DATE-TIME]')
            [CompletionResult]::new('--at-once', '--at-once', [CompletionResultType]::ParameterName, 'Let at most NUM machines measure at once')
            [CompletionResult]::new('--silence', '--silence', [CompletionResultType]::ParameterName, 'Give a machine up when nothing came from it for TIME')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Give a machine up when it is not done after TIME')
            [CompletionResult]::new('--send', '--send', [CompletionResultType]::ParameterName, 'Copy FILE into the directory over there in which the commands run')
            [CompletionResult]::new('--binary', '--binary', [CompletionResultType]::ParameterName, 'Use this whyfaster on machines of another instruction set')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;fleet;resume' {
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--trust', '--trust', [CompletionResultType]::ParameterName, 'Resume a run that somebody else may have written')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;fleet;report' {
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Take only comparisons in which a command, or its name, holds this text')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Records that were measured on this day or later, such as 2026-10-01 or 2026-10-01T12:30 (UTC)')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Records that were measured before this day or time')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Records that were added under this label')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Records of this machine; may be given several times')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]')
            [CompletionResult]::new('--fail-if', '--fail-if', [CompletionResultType]::ParameterName, 'Exit with 3 if something in the fleet is above a limit')
            [CompletionResult]::new('--export-comparisons-csv', '--export-comparisons-csv', [CompletionResultType]::ParameterName, 'Write what every machine says to every comparison to FILE as CSV')
            [CompletionResult]::new('--export-comparisons-parquet', '--export-comparisons-parquet', [CompletionResultType]::ParameterName, 'Write the same to FILE as Parquet')
            [CompletionResult]::new('--export-csv', '--export-csv', [CompletionResultType]::ParameterName, 'Write every price of every machine to FILE as CSV; of a diff, every row')
            [CompletionResult]::new('--export-parquet', '--export-parquet', [CompletionResultType]::ParameterName, 'Write the same to FILE as Parquet')
            [CompletionResult]::new('--export-prometheus', '--export-prometheus', [CompletionResultType]::ParameterName, 'Write a file a machine into DIR for Prometheus'' textfile collector')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write a page with pictures to FILE')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--fail-on-inconclusive', '--fail-on-inconclusive', [CompletionResultType]::ParameterName, 'Exit with 4 if a gate could not be decided')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Open the page in the browser (xdg-open)')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print everything as JSON on standard output instead of the report')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;fleet;diff' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]')
            [CompletionResult]::new('--delta', '--delta', [CompletionResultType]::ParameterName, 'Call a price unchanged when it changed by less than this')
            [CompletionResult]::new('--fail-if', '--fail-if', [CompletionResultType]::ParameterName, 'Exit with 3 if a price became dearer than allowed')
            [CompletionResult]::new('--export-csv', '--export-csv', [CompletionResultType]::ParameterName, 'Write every price of every machine to FILE as CSV; of a diff, every row')
            [CompletionResult]::new('--export-parquet', '--export-parquet', [CompletionResultType]::ParameterName, 'Write the same to FILE as Parquet')
            [CompletionResult]::new('--export-prometheus', '--export-prometheus', [CompletionResultType]::ParameterName, 'Write a file a machine into DIR for Prometheus'' textfile collector')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write a page with pictures to FILE')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--fail-on-inconclusive', '--fail-on-inconclusive', [CompletionResultType]::ParameterName, 'Exit with 4 if a gate could not be decided')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Open the page in the browser (xdg-open)')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print everything as JSON on standard output instead of the report')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;store' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add records to the store: comparisons, price lists, traces')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the records in the store, the latest first')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Print a record of the store as it was added, such as for: whyfaster show -')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove records from the store')
            break
        }
        'whyfaster;store;add' {
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Add them under this label, such as before or after, by which reports choose')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]')
            [CompletionResult]::new('--name-by-file', '--name-by-file', [CompletionResultType]::ParameterName, 'Call the machine by the file of its record, not by the name of the host: for clones that share one name')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;store;list' {
            [CompletionResult]::new('--last', '--last', [CompletionResultType]::ParameterName, 'List at most so many records')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Records that were measured on this day or later, such as 2026-10-01 or 2026-10-01T12:30 (UTC)')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Records that were measured before this day or time')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Records that were added under this label')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Records of this machine; may be given several times')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print them as JSON on standard output')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;store;get' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;store;remove' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;doctor' {
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the facts as JSON')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;demo' {
            [CompletionResult]::new('--max-time', '--max-time', [CompletionResultType]::ParameterName, 'Begin nothing that would end after this time, such as 90s [default: 50s]')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write the record, with every raw sample, to FILE (''-'' is standard output)')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'The label that it is added under, such as before or after')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'Colour: auto, basic, full, nocolor, color or none [default: auto]')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]')
            [CompletionResult]::new('--as-root', '--as-root', [CompletionResultType]::ParameterName, 'Under sudo, run the commands as root, and write files as root')
            [CompletionResult]::new('--no-keep', '--no-keep', [CompletionResultType]::ParameterName, 'Do not keep the record for ''whyfaster show''')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Add the record to the store, where ''whyfaster fleet'' and ''whyfaster store'' find it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the record as JSON on standard output instead of the report')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print the tables too; -vv prints everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the answer in one sentence')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;man' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the options that are used most')
            [CompletionResult]::new('--help-all', '--help-all', [CompletionResultType]::ParameterName, 'Print every option with its explanation')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'whyfaster;help' {
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Say which of these commands is faster, and from what load on that changes')
            [CompletionResult]::new('trace', 'trace', [CompletionResultType]::ParameterValue, 'Explain one command or pipeline: where the time of its whole process tree went')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print a record again, with the analysis redone')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Make a page of a record, a trace or price lists: one file with every picture and number')
            [CompletionResult]::new('study', 'study', [CompletionResultType]::ParameterValue, 'List the studies, or run one: an article''s measurement, repeated on this machine')
            [CompletionResult]::new('prices', 'prices', [CompletionResultType]::ParameterValue, 'Price what this machine charges: system calls, processes, threads, pipes, page faults')
            [CompletionResult]::new('machines', 'machines', [CompletionResultType]::ParameterValue, 'Set price lists side by side: which machine charges more, for what, and why')
            [CompletionResult]::new('fleet', 'fleet', [CompletionResultType]::ParameterValue, 'Ask the same of many machines: how they differ, by which facts, and which of them stand out')
            [CompletionResult]::new('store', 'store', [CompletionResultType]::ParameterValue, 'Keep records of many machines in a database, where ''fleet'' asks them')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say what this machine allows, how noisy it is, and what would help')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Show a pair of commands whose order flips from one copy to many, in less than 30 seconds')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Show the manual: of whyfaster, or of one verb')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions for a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'whyfaster;help;compare' {
            break
        }
        'whyfaster;help;trace' {
            break
        }
        'whyfaster;help;show' {
            break
        }
        'whyfaster;help;report' {
            break
        }
        'whyfaster;help;study' {
            break
        }
        'whyfaster;help;prices' {
            break
        }
        'whyfaster;help;machines' {
            break
        }
        'whyfaster;help;fleet' {
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Compare commands on every machine of the places, and say where which is faster')
            [CompletionResult]::new('prices', 'prices', [CompletionResultType]::ParameterValue, 'Price the operations of every machine of the places, and say how they differ')
            [CompletionResult]::new('trace', 'trace', [CompletionResultType]::ParameterValue, 'Trace a command on every machine of the places')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say what every machine of the places allows, and how noisy it is')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Measure on the machines whose records a run lacks')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Say how machines differ, which facts explain it, and which machines stand out')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Say what an update changed: every machine beside itself, before and after')
            break
        }
        'whyfaster;help;fleet;compare' {
            break
        }
        'whyfaster;help;fleet;prices' {
            break
        }
        'whyfaster;help;fleet;trace' {
            break
        }
        'whyfaster;help;fleet;doctor' {
            break
        }
        'whyfaster;help;fleet;resume' {
            break
        }
        'whyfaster;help;fleet;report' {
            break
        }
        'whyfaster;help;fleet;diff' {
            break
        }
        'whyfaster;help;store' {
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add records to the store: comparisons, price lists, traces')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the records in the store, the latest first')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Print a record of the store as it was added, such as for: whyfaster show -')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove records from the store')
            break
        }
        'whyfaster;help;store;add' {
            break
        }
        'whyfaster;help;store;list' {
            break
        }
        'whyfaster;help;store;get' {
            break
        }
        'whyfaster;help;store;remove' {
            break
        }
        'whyfaster;help;doctor' {
            break
        }
        'whyfaster;help;demo' {
            break
        }
        'whyfaster;help;man' {
            break
        }
        'whyfaster;help;completions' {
            break
        }
        'whyfaster;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
