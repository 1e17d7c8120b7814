"""`quotecast completion`: prints a script by which a shell completes command lines."""

import argparse
import shlex
import sys
from collections.abc import Iterator
from typing import Final

#: Follows the command line to the command that is meant, then proposes its words, or the values of an option.
_SCRIPT: Final = """\
_quotecast() {{
    local path=quotecast word words
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path $word" in
{commands}
            path="$path $word";;
        esac
    done
    case "$path ${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
        *) case "$path" in
{words}
        esac;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _quotecast quotecast
"""
#: zsh has bash's completion as an emulation.
_ZSH: Final = "autoload -U +X bashcompinit && bashcompinit\n"


def write(parser: argparse.ArgumentParser, shell: str) -> None:
    """Prints the script of `bash` or `zsh` for all commands of a parser."""
    commands = list(_commands(parser))
    paths = "|".join(shlex.quote(command.prog) for command in commands[1:])
    script = _SCRIPT.format(
        commands=f"            {paths})",
        values="\n".join(line for command in commands for line in _value_lines(command)),
        words="\n".join(_words_line(command) for command in commands),
    )
    sys.stdout.write(f"{_ZSH if shell == 'zsh' else ''}{script}")


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yields a parser with those of its commands and their actions."""
    yield parser
    for action in parser._actions:  # noqa: SLF001 - argparse has no other list
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for command in action.choices.values():
                yield from _commands(command)


def _value_lines(command: argparse.ArgumentParser) -> Iterator[str]:
    """Yields the values of each option that takes one; where any text will do there are none."""
    for action in command._actions:  # noqa: SLF001
        if action.option_strings and action.nargs != 0:
            places = "|".join(shlex.quote(f"{command.prog} {name}") for name in action.option_strings)
            yield f"        {places}) words={_quote(map(str, action.choices or ()))};;"


def _words_line(command: argparse.ArgumentParser) -> str:
    """Returns the actions and options of a command, and the values of its arguments."""
    words = []
    for action in command._actions:  # noqa: SLF001
        words += [name for name in action.option_strings if name.startswith("--")]
        if not action.option_strings:
            words += map(str, action.choices or ())
    return f"            {shlex.quote(command.prog)}) words={_quote(words)};;"


def _quote(words: "Iterator[str] | list[str]") -> str:
    return shlex.quote(" ".join(words))
