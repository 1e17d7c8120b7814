import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { type Answer, explain } from "./client.ts";
import { say } from "./words.ts";

/** Rows of a page of the service. */
const PAGE = 50;

/** A search and the id before which the page begins. */
export function usePages() {
  const [find, setFind] = useState("");
  const [before, setBefore] = useState("");
  const search = (text: string) => {
    setFind(text);
    setBefore("");
  };
  const parameters = new URLSearchParams(Object.entries({ find, before }).filter(([, value]) => value));
  return { query: `?${parameters}`, before, setBefore, search };
}

export function Search({ onFind }: { readonly onFind: (text: string) => void }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onFind(String(new FormData(event.currentTarget as HTMLFormElement).get("find") ?? "").trim());
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input name="find" type="search" maxLength={254} aria-label={say("find")} />
      <button type="submit">{say("find")}</button>
    </form>
  );
}

interface StepsProps {
  readonly before: string;
  readonly last: string | undefined;
  readonly count: number;
  readonly onStep: (before: string) => void;
}

/** Buttons to the newest page and the next older one. */
export function Steps({ before, last, count, onStep }: StepsProps) {
  return (
    <div class="row steps-of-pages">
      <button type="button" disabled={!before} onClick={() => onStep("")}>
        {say("newer")}
      </button>
      <button type="button" disabled={count < PAGE || !last} onClick={() => last && onStep(last)}>
        {say("older")}
      </button>
    </div>
  );
}

interface ShownProps<T> {
  readonly answer: Answer<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows an answer, or why there is none. */
export function Shown<T>({ answer, children }: ShownProps<T>) {
  return (
    <>
      {answer.error !== null && (
        <p class="notice" role="alert">
          {explain(answer.error)}
        </p>
      )}
      {answer.data !== null && children(answer.data)}
    </>
  );
}
