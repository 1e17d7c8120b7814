import { useEffect } from "preact/hooks";

import { lazy } from "./lazy.tsx";
import { useModal } from "./modal.ts";
import { active, count, isOpen, isWanted, openPalette, step, type, typed } from "./palette-state.ts";
import { say } from "./words.ts";

const Palette = lazy(async () => (await import("./palette.tsx")).Palette);
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
/** Characters of the longest text that the service looks up. */
const MOST_TYPED = 64;
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** The field of the header that opens the palette, and its dialog; the code of the options loads when it opens. */
export function Search() {
  const { ref: dialog, onClose } = useModal(isOpen);
  useEffect(listenForKeys, []);
  const close = () => {
    // Now, so that the focus is back before a command moves it.
    dialog.current?.close();
    isOpen.value = false;
  };
  return (
    <div class="search">
      <button type="button" aria-keyshortcuts="Control+K Meta+K /" aria-haspopup="dialog" onClick={openPalette}>
        <span>{say("search")}</span>
        <kbd aria-hidden="true">{isMac ? "⌘" : "Ctrl"} K</kbd>
      </button>
      <dialog
        ref={dialog}
        class="palette"
        aria-label={say("search")}
        onClose={onClose}
        onPointerDown={(event) => event.target === dialog.current && close()}
      >
        {isOpen.value && (
          <>
            <div class="line">
              <Field />
              <button type="button" class="icon" aria-label={say("close")} onClick={close}>
                ×
              </button>
            </div>
            <Palette close={close} />
          </>
        )}
      </dialog>
    </div>
  );
}

function Field() {
  return (
    <input
      role="combobox"
      aria-label={say("searchOrCommand")}
      aria-autocomplete="list"
      aria-expanded={count.value > 0}
      aria-controls="palette"
      aria-activedescendant={count.value ? `palette-${active.value}` : undefined}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      maxLength={MOST_TYPED}
      placeholder={say("searchOrCommand")}
      value={typed.value}
      onInput={(event) => type(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

function onKeyDown(event: KeyboardEvent): void {
  const by = STEPS[event.key];
  if (event.isComposing || (!by && event.key !== "Enter")) return;
  event.preventDefault();
  if (by) step(by);
  else isWanted.value = true;
}

/** Opens the palette at Ctrl-K or Cmd-K, which also closes it, and at a slash outside of fields. */
function listenForKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    const isCombined = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const target = event.target as Element;
    if (isCombined && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (isOpen.value) isOpen.value = false;
      else if (!document.querySelector("dialog[open]")) openPalette();
    } else if (event.key === "/" && !isCombined && !target.closest("input, select, textarea, dialog[open]")) {
      event.preventDefault();
      openPalette();
    }
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}
