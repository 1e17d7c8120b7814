import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** A row of controls with one tab stop: arrows move between them, Home and End go to the ends. */
export function Toolbar({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const element = useRef<HTMLDivElement>(null);
  // After every render: controls come, go and become hidden.
  useEffect(() => {
    const controls = controlsOf(element.current);
    const stop = controls.find((each) => each.tabIndex === 0 && each.dataset.stop) ?? controls[0];
    if (stop) moveStop(controls, stop);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const controls = controlsOf(element.current);
    const here = controls.indexOf(event.target as HTMLElement);
    const next = nextOf(event.key, here, controls.length);
    if (here < 0 || next === null) return;
    event.preventDefault();
    controls[next]?.focus();
  };
  const onFocus = (event: FocusEvent) => {
    const controls = controlsOf(element.current);
    if (controls.includes(event.target as HTMLElement)) moveStop(controls, event.target as HTMLElement);
  };
  return (
    <div
      class="tools chart-tools"
      role="toolbar"
      aria-label={label}
      ref={element}
      onKeyDown={onKeyDown}
      onFocusIn={onFocus}
    >
      {children}
    </div>
  );
}

function controlsOf(element: HTMLElement | null): HTMLElement[] {
  const all = element?.querySelectorAll<HTMLElement>("button:not(:disabled), select") ?? [];
  return [...all].filter((each) => each.offsetParent !== null);
}

function moveStop(controls: readonly HTMLElement[], stop: HTMLElement): void {
  for (const each of controls) {
    each.tabIndex = each === stop ? 0 : -1;
    if (each === stop) each.dataset.stop = "true";
    else delete each.dataset.stop;
  }
}

function nextOf(key: string, here: number, count: number): number | null {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = STEPS[key];
  return step ? (here + step + count) % count : null;
}

interface SegmentsProps<T extends string> {
  readonly label: string;
  readonly options: readonly T[];
  readonly value: T;
  readonly onChoose: (option: T) => void;
}

/** A choice of one: buttons in a row, or in a narrow pane a list that opens. */
export function Segments<T extends string>({ label, options, value, onChoose }: SegmentsProps<T>) {
  return (
    <>
      <div class="choice" role="group" aria-label={label}>
        {options.map((option) => (
          <button key={option} type="button" aria-pressed={option === value} onClick={() => onChoose(option)}>
            {option}
          </button>
        ))}
      </div>
      <select
        class="narrow"
        aria-label={label}
        title={label}
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value as T)}
      >
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </>
  );
}
