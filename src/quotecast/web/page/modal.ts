import type { Signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Returns the properties of a dialog that is open while the signal says so; Escape clears the signal. */
export function useModal(isOpen: Signal<boolean>) {
  const ref = useRef<HTMLDialogElement>(null);
  // Before the next key event, so that no letter is lost; the first field gets the focus.
  useLayoutEffect(() => {
    if (isOpen.value) ref.current?.showModal();
    else ref.current?.close();
  }, [isOpen.value]);
  const onClose = () => {
    // On a busy page the event of a closed dialog comes after the dialog has opened again.
    if (!ref.current?.open) isOpen.value = false;
  };
  return { ref, onClose };
}
