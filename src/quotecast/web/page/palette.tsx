import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { SearchResult } from "quotecast-client";
import { Finder, type Found } from "./finder.ts";
import { allCommands } from "./palette-commands.ts";
import { type Choice, choiceOf, type Item, type Section, sectionsOf, soughtIn } from "./palette-list.ts";
import { active, count, isWanted, typed } from "./palette-state.ts";
import { recent, rememberChoice } from "./recent.ts";
import { select } from "./selection.ts";
import { explain, rest } from "./service.ts";
import { say } from "./words.ts";

const AT_MOST = 12;
const NOTHING: Found<SearchResult> = { text: "", results: [], error: null };

const ask = (q: string) => rest.call("GET /api/search", { query: { q, limit: AT_MOST } });

interface Props {
  readonly close: () => void;
}

/** The options of the palette: symbols of all feeds and commands. Enter waits for those that belong to the text. */
export function Palette({ close }: Props) {
  const [found, setFound] = useState(NOTHING);
  const finder = useMemo(() => new Finder(ask, setFound), []);
  const sought = soughtIn(typed.value);
  const isCurrent = found.text === sought;
  const sections = useSections(found, isCurrent);
  const items = sections.flatMap((each) => each.items);
  useEffect(() => finder.seek(sought), [sought]);
  useLayoutEffect(() => {
    count.value = isCurrent ? items.length : 0;
  });
  const choose = (item: Item | undefined) => {
    if (!item) return;
    close();
    if (item.kind === "command") item.command.run();
    else {
      rememberChoice(item.choice);
      select({ feed: item.choice.feed, key: item.choice.key });
    }
  };
  // Read while rendering, so that Enter renders again.
  const wanted = isWanted.value;
  useEffect(() => {
    if (!wanted) return;
    if (!isCurrent) {
      finder.hurry();
      return;
    }
    isWanted.value = false;
    if (found.error !== null && !items.length) finder.again();
    choose(items[active.value]);
  });
  return (
    <>
      <p class="unseen" role="status">
        {isCurrent && found.error === null ? say("matches", { count: items.length }) : ""}
      </p>
      {isCurrent && found.error !== null && (
        <p class="notice" role="alert">
          {explain(found.error)}
        </p>
      )}
      {isCurrent && found.error === null && !items.length && <p class="quiet">{say("noSuchSymbol")}</p>}
      <Options sections={sections} isCurrent={isCurrent} choose={choose} />
      <p class="hint">{say("paletteHint")}</p>
    </>
  );
}

/** Returns the sections for the text; while it is looked up, the last ones. */
function useSections(found: Found<SearchResult>, isCurrent: boolean): readonly Section[] {
  const last = useRef<readonly Section[]>([]);
  if (isCurrent) last.current = sectionsOf(typed.value, found.results.map(choiceOf), recent.value, allCommands());
  return last.current;
}

interface OptionsProps {
  readonly sections: readonly Section[];
  readonly isCurrent: boolean;
  readonly choose: (item: Item) => void;
}

function Options({ sections, isCurrent, choose }: OptionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active.value, isCurrent]);
  let index = 0;
  return (
    <div ref={list} id="palette" class="options" role="listbox" aria-label={say("search")} aria-busy={!isCurrent}>
      {sections.map(({ title, items }) => (
        <div key={title} role="group" aria-label={say(title)}>
          <div class="title" aria-hidden="true">
            {say(title)}
          </div>
          {items.map((item) => {
            const own = index++;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys.
              <div
                key={keyOf(item)}
                id={`palette-${own}`}
                role="option"
                aria-selected={isCurrent && own === active.value}
                onClick={() => isCurrent && choose(item)}
              >
                {item.kind === "command" ? <span>{item.command.title()}</span> : <SymbolText choice={item.choice} />}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

const keyOf = (item: Item): string =>
  item.kind === "command" ? item.command.id : `${item.choice.feed} ${item.choice.key}`;

function SymbolText({ choice }: { readonly choice: Choice }) {
  return (
    <>
      <b>{choice.key}</b> <span>{choice.name}</span>{" "}
      <small>{[choice.venue, say(choice.feed)].filter(Boolean).join(" · ")}</small>
    </>
  );
}
