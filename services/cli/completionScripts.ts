import type { CompletionOption, CompletionPlace } from './completionPlaces.js';

/*
 * Each script walks the words before the cursor down the tree of commands and offers what may stand there. Where a value
 * can be anything, the shell falls back to names of files.
 */

export function bashScript(name: string, places: readonly CompletionPlace[]): string {
  const own = functionName(name);
  const cases = places.map(
    (place) => `    ${quoted(place.path)})
${valueCases(place, '"$previous"', (choices) => `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$current")); return`)}
      COMPREPLY=($(compgen -W ${quoted(words(place).join(' '))} -- "$current"))
      ;;`,
  );
  return `# bash completion for ${name}; printed by: ${name} completion bash
${own}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" place="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${place:+$place }\${COMP_WORDS[i]}" in
      ${paths(places)}) place="\${place:+$place }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
}
complete -o default -F ${own} ${name}
`;
}

export function zshScript(name: string, places: readonly CompletionPlace[]): string {
  const own = functionName(name);
  const cases = places.map(
    (place) => `    ${quoted(place.path)})
${valueCases(place, '"$words[CURRENT-1]"', (choices) => `compadd -- ${choices.map(quoted).join(' ')}; return`, '_files; return')}
      compadd -- ${words(place).map(quoted).join(' ')}
      ;;`,
  );
  return `#compdef ${name}
# zsh completion for ${name}; printed by: ${name} completion zsh
${own}() {
  local place="" i
  for ((i = 2; i < CURRENT; i++)); do
    case "\${place:+$place }$words[i]" in
      ${paths(places)}) place="\${place:+$place }$words[i]" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  [[ "$words[CURRENT]" == -* ]] || _files
}
compdef ${own} ${name}
`;
}

export function fishScript(name: string, places: readonly CompletionPlace[]): string {
  const at = `_${functionName(name)}_at`;
  const lines: string[] = [];
  for (const place of places) {
    const head = `complete -c ${name} -n ${quoted(`${at} ${quoted(place.path)}`)}`;
    for (const { name: command, description } of place.commands) {
      lines.push(`${head} -f -a ${quoted(command)} -d ${quoted(description)}`);
    }
    for (const choice of place.argumentChoices) lines.push(`${head} -f -a ${quoted(choice)}`);
    for (const option of place.options) {
      const flags = option.flags.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const value = !option.takesValue
        ? ''
        : option.choices.length > 0
          ? ` -x -a ${quoted(option.choices.join(' '))}`
          : ' -r';
      lines.push(`${head} ${flags.join(' ')}${value} -d ${quoted(option.description)}`);
    }
  }
  const known = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `# fish completion for ${name}; printed by: ${name} completion fish
function ${at}
  set -l place ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$place $word")
    if contains -- "$next" ${known.join(' ')}
      set place $next
    end
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`;
}

/** What may stand there besides a value. */
function words({ commands, options, argumentChoices }: CompletionPlace): readonly string[] {
  return [...commands.map(({ name }) => name), ...argumentChoices, ...options.flatMap(({ flags }) => flags)];
}

/** What may follow an option that takes a value. */
function valueCases(
  { options }: CompletionPlace,
  previous: string,
  offer: (choices: readonly string[]) => string,
  otherwise = 'return',
): string {
  const taking = options.filter(({ takesValue }) => takesValue);
  if (taking.length === 0) return '      :';
  const one = ({ flags, choices }: CompletionOption): string =>
    `        ${flags.join('|')}) ${choices.length > 0 ? offer(choices) : otherwise} ;;`;
  return `      case ${previous} in\n${taking.map(one).join('\n')}\n      esac`;
}

function paths(places: readonly CompletionPlace[]): string {
  return places
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path))
    .join(' | ');
}

function functionName(name: string): string {
  return `_${name.replace(/\W/g, '_')}`;
}

/** As one word of a shell, taken as it stands. */
function quoted(text: string): string {
  return `'${text.replace(/'/g, `'\\''`)}'`;
}
