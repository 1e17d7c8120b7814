import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface MenuProps {
  readonly label: string;
  readonly text: ComponentChildren;
  readonly class?: string;
  readonly isOpen: boolean;
  readonly setOpen: (open: boolean) => void;
  readonly children: ComponentChildren;
}

/** A button that opens controls below it; Escape, and the focus or the pointer elsewhere, close them. */
export function Menu({ label, text, isOpen, setOpen, children, ...own }: MenuProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => (isOpen ? closeOutside(element.current as HTMLElement, () => setOpen(false)) : undefined), [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen) return;
    event.preventDefault();
    setOpen(false);
    element.current?.querySelector("button")?.focus();
  };
  return (
    <div class={`menu ${own.class ?? ""}`} ref={element} role="group" aria-label={label} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="icon"
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {text}
      </button>
      {isOpen && <div class="actions">{children}</div>}
    </div>
  );
}

/** Calls `close` when the pointer or the focus goes elsewhere; returns the end of it. */
function closeOutside(menu: HTMLElement, close: () => void): () => void {
  const look = (event: Event) => {
    if (!menu.contains(event.target as Node)) close();
  };
  addEventListener("pointerdown", look);
  addEventListener("focusin", look);
  return () => {
    removeEventListener("pointerdown", look);
    removeEventListener("focusin", look);
  };
}
