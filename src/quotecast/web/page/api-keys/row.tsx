import { useRef } from "preact/hooks";

import type { KeySecret, KeyShown } from "quotecast-client";
import { Form } from "../form.tsx";
import { moment } from "../formats.ts";
import { rest } from "../service.ts";
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
  const item = useRef<HTMLLIElement>(null);
  const now = Date.now();
  const about = [
    `${key}…`,
    say("keyPlan", { plan }),
    ...(scope.feeds ?? []).map((feed) => say(feed)),
    ...(scope.symbols ?? []),
    ...statesOf(shown, now).map(([word, time]) => say(word, time ? { time: moment(time) } : {})),
  ];
  const rotate = async (given: FormData) => {
    const body = { overlap_seconds: Number(given.get("overlap")) };
    onRotate(await rest.call("POST /api/keys/{key_id}/rotate", { path: { key_id: id }, body }));
    item.current?.querySelector("details")?.removeAttribute("open");
  };
  const revoke = async () => {
    await rest.call("DELETE /api/keys/{key_id}", { path: { key_id: id } });
    onRevoke();
    // The button that has the focus is about to go.
    item.current?.focus();
  };
  return (
    <li ref={item} tabIndex={-1}>
      <b>{name}</b>
      <small>{about.join(" · ")}</small>
      {isUsable(shown, now) && (
        <>
          <details>
            <summary aria-label={say("keyRotateOf", { name })}>{say("keyRotate")}</summary>
            <Form label={say("keyRotateOf", { name })} send={rotate} button={say("keyRotateNow")}>
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
            </Form>
          </details>
          <details>
            <summary>{say("keyRevoke")}</summary>
            <Form send={revoke} button={say("keyRevokeOf", { name })}>
              <p>{say("keyRevokeText")}</p>
            </Form>
          </details>
        </>
      )}
    </li>
  );
}
