import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { reloadForCode } from "./retried.ts";
import { live } from "./service.ts";
import { say } from "./words.ts";

/** Returns a component whose code the browser loads when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const [state, setState] = useState<"loading" | "ready" | "failed">(Loaded ? "ready" : "loading");
    const isRetry = useRef(false);
    useEffect(() => {
      if (state !== "loading") return;
      live.begun.then(load).then(
        (component) => {
          Loaded = component;
          setState("ready");
        },
        () => {
          setState("failed");
          if (isRetry.current) void reloadForCode();
          isRetry.current = true;
        },
      );
    }, [state]);
    if (Loaded) return <Loaded {...props} />;
    if (state === "loading") return <p class="quiet">{say("loading")}</p>;
    return (
      <p class="quiet">
        {say("notLoaded")}{" "}
        <button type="button" onClick={() => setState("loading")}>
          {say("tryAgain")}
        </button>
      </p>
    );
  };
}
