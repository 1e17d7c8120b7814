import { type ComponentChildren, createContext, createPortal } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";

import { nextItem } from "./roving.ts";
import { type Answer, explain } from "./service.ts";
import { say } from "./words.ts";

/** The choices of one pane, which outlive the page. */
export interface Memory {
  readonly memory: Record<string, string>;
  /** Adds choices to those that the pane remembers. */
  readonly remember: (memory: Record<string, string>) => void;
}

const Visible = createContext(false);

/** Returns whether the pane is in view; panes out of view do no work. */
export const useVisible = (): boolean => useContext(Visible);

/** The place in a pane's heading for the controls of its content; null before the first paint. */
export const Heading = createContext<HTMLElement | null>(null);

/** Controls of a pane, shown in the row of its heading. */
export function Tools({ children }: { readonly children: ComponentChildren }) {
  const place = useContext(Heading);
  return place && createPortal(children, place);
}

/** Tells children whether they are in view. */
export function InView({ children, isHidden }: { readonly children: ComponentChildren; readonly isHidden: boolean }) {
  const element = useRef<HTMLDivElement>(null);
  const [visible, setVisible] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => setVisible(entries.at(-1)?.isIntersecting ?? false));
    observer.observe(element.current as HTMLDivElement);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="pane-body" ref={element} hidden={isHidden}>
      <Visible.Provider value={visible}>{children}</Visible.Provider>
    </div>
  );
}

/** Shows an answer, its error, or that it is loading. */
export function AnswerView<T>({
  answer,
  children,
}: {
  readonly answer: Answer<T>;
  readonly children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      {answer.error !== null && (
        <p class="notice" role="status">
          {explain(answer.error)}
        </p>
      )}
      {answer.data !== null ? children(answer.data) : answer.error === null && <p class="quiet">{say("loading")}</p>}
    </>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly T[];
  readonly value: T;
  readonly text?: (option: T) => string;
  readonly disabled?: (option: T) => boolean;
  readonly onChoose: (option: T) => void;
}

/** A row of buttons of which one is chosen: one stop of the Tab key, and the arrows choose another. */
export function Choice<T extends string>({ label, options, value, text = String, disabled, onChoose }: ChoiceProps<T>) {
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...(event.currentTarget as Element).querySelectorAll("button")];
    const next = nextItem(event, buttons);
    const option = options[buttons.indexOf(next as HTMLButtonElement)];
    if (!next || option === undefined) return;
    event.preventDefault();
    next.focus();
    onChoose(option);
  };
  return (
    <div class="choice" role="radiogroup" aria-label={label} onKeyDown={onKeyDown}>
      {options.map((option) => (
        <button
          key={option}
          type="button"
          role="radio"
          aria-checked={option === value}
          tabIndex={option === value ? 0 : -1}
          disabled={disabled?.(option)}
          onClick={() => onChoose(option)}
        >
          {text(option)}
        </button>
      ))}
    </div>
  );
}
