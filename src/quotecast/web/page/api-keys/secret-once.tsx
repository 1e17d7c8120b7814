import { useEffect, useRef, useState } from "preact/hooks";

import { say } from "../words.ts";

/** A new key, selected and with a button that copies it. */
export function SecretOnce({ name, text }: { readonly name: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // A screen reader reads the label, which says that the key is not shown again.
  useEffect(() => field.current?.focus(), []);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <div class="secret">
      <label>
        {say("keyNew", { name })}
        <input ref={field} readOnly value={text} onFocus={(event) => event.currentTarget.select()} />
      </label>
      {navigator.clipboard && (
        <button type="button" onClick={copy}>
          {say(isCopied ? "keyCopied" : "keyCopy")}
        </button>
      )}
    </div>
  );
}
