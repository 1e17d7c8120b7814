import { useRef, useState } from "preact/hooks";

import type { KeySecret, KeyShown } from "quotecast-client";
import { moment } from "../formats.ts";
import { explain, rest } from "../service.ts";
import { say } from "../words.ts";
import { isUsable, statesOf } from "./state.ts";

/** Seconds for which the old key works after a rotation. */
const OVERLAPS = [
  [0, "keyOverlapNone"],
  [3600, "keyOverlapHour"],
  [86_400, "keyOverlapDay"],
  [604_800, "keyOverlapWeek"],
] as const;
const DAY = 86_400;

interface Props {
  readonly shown: KeyShown;
  readonly onRotate: (key: KeySecret) => void;
  readonly onRevoke: () => void;
}

/** One key: what it is, and, unless it has ended, how to rotate and to revoke it. */
export function KeyRow({ shown, onRotate, onRevoke }: Props) {
  const { id, name, key, plan, scope } = shown;
  const [error, setError] = useState<unknown>(null);
  const item = useRef<HTMLLIElement>(null);
  const now = Date.now();
  const about = [
    `${key}…`,
    say("keyPlan", { plan }),
    ...(scope.feeds ?? []).map((feed) => say(feed)),
    ...(scope.symbols ?? []),
    ...statesOf(shown, now).map(([word, time]) => say(word, time ? { time: moment(time) } : {})),
  ];
  const act = async (work: () => Promise<void>) => {
    try {
      await work();
      setError(null);
    } catch (refusal) {
      setError(refusal);
    }
  };
  const rotate = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const overlap = Number(new FormData(form).get("overlap"));
    void act(async () => {
      const body = { overlap_seconds: overlap };
      onRotate(await rest.call("POST /api/keys/{key_id}/rotate", { path: { key_id: id }, body }));
      form.closest("details")?.removeAttribute("open");
    });
  };
  const revoke = () =>
    act(async () => {
      await rest.call("DELETE /api/keys/{key_id}", { path: { key_id: id } });
      onRevoke();
      // The button that has the focus is about to go.
      item.current?.focus();
    });
  return (
    <li ref={item} tabIndex={-1}>
      <b>{name}</b>
      <small>{about.join(" · ")}</small>
      {isUsable(shown, now) && (
        <>
          <details>
            <summary aria-label={say("keyRotateOf", { name })}>{say("keyRotate")}</summary>
            <form aria-label={say("keyRotateOf", { name })} onSubmit={rotate}>
              <label>
                {say("keyOverlap")}
                <select name="overlap">
                  {OVERLAPS.map(([seconds, word]) => (
                    <option key={seconds} value={seconds} selected={seconds === DAY}>
                      {say(word)}
                    </option>
                  ))}
                </select>
              </label>
              <div class="row">
                <button type="submit">{say("keyRotateNow")}</button>
              </div>
            </form>
          </details>
          <details>
            <summary>{say("keyRevoke")}</summary>
            <p>{say("keyRevokeText")}</p>
            <div class="row">
              <button type="button" onClick={() => void revoke()}>
                {say("keyRevokeOf", { name })}
              </button>
            </div>
          </details>
        </>
      )}
      {error !== null && (
        <p class="notice" role="alert">
          {explain(error)}
        </p>
      )}
    </li>
  );
}
